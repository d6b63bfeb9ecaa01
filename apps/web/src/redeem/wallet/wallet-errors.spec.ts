import { describe, expect, it } from '@jest/globals';
import { walletFailure } from './wallet-errors.js';

const anError = (fields: object) => Object.assign(new Error('…'), fields);

describe('what a wallet says', () => {
  it.each([
    [{ code: 4001 }, 'rejected'],
    [{ code: 'ACTION_REJECTED' }, 'rejected'],
    [{ code: -32_002, message: 'Already processing eth_requestAccounts.' }, 'requestOpen'],
    [{ code: -32_000, message: 'insufficient funds for gas * price + value' }, 'tooLittleCoin'],
    [{ code: -32_000, message: 'Insufficient funds for gas * price + value' }, 'tooLittleCoin'],
    [{ code: -32_000, message: 'gas required exceeds allowance (0)' }, 'tooLittleCoin'],
    [{ code: -32_603, message: 'Internal error' }, 'failed'],
  ] as const)('%p is %p, by itself and as a cause', (fields, expected) => {
    expect(walletFailure(anError(fields))).toBe(expected);
    const wrapped = new Error('outer', { cause: new Error('inner', { cause: anError(fields) }) });
    expect(walletFailure(wrapped)).toBe(expected);
  });

  it.each([undefined, null, 'text', {}])('%p is a failure', (thrown) => {
    expect(walletFailure(thrown)).toBe('failed');
  });
});
