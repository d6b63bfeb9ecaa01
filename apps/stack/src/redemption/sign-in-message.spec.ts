import { describe, expect, it } from '@jest/globals';
import { createSiweMessage, parseSiweMessage } from 'viem/siwe';
import { signInMessage } from './redemption-user.js';

const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';

describe('the text of a sign-in', () => {
  it('is the one that a library writes', () => {
    const issuedAtMs = 1_760_000_000_000;
    const text = signInMessage({
      host: '127.0.0.1:3002',
      wallet,
      chainId: 4_242,
      nonce: '0123456789abcdef',
      issuedAtMs,
    });
    const expected = {
      domain: '127.0.0.1:3002',
      address: wallet,
      statement: 'Redeem points.',
      uri: 'http://127.0.0.1:3002',
      version: '1',
      chainId: 4_242,
      nonce: '0123456789abcdef',
      issuedAt: new Date(issuedAtMs),
    } as const;
    expect(text).toBe(createSiweMessage(expected));
    expect(parseSiweMessage(text)).toEqual(expected);
  });
});
