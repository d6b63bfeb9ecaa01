import { describe, expect, it } from '@jest/globals';
import { judgeReply } from './partner-answer.js';
import { WALLET } from './testing/builders.js';

const BALANCE = {
  success: true,
  partnerUserId: 'u-1',
  address: WALLET.toUpperCase().replace('0X', '0x'),
  points: 0,
  chain: 'ronin',
};

describe('judgeReply', () => {
  const reply = {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    signature: 'valid',
  } as const;

  it('takes a balance that repeats the address in any case, and no other', () => {
    const call = { step: 'balance', address: WALLET } as const;
    expect(judgeReply(call, { ...reply, json: { value: BALANCE } })).toEqual({
      kind: 'succeeded',
      answer: { partnerUserId: 'u-1', address: WALLET, points: 0n, chain: 'ronin' },
    });
    const value = { ...BALANCE, address: `0x${'b'.repeat(40)}` };
    expect(judgeReply(call, { ...reply, json: { value } })).toEqual({
      kind: 'unknown',
      reason: 'invalid-answer',
    });
  });

  it('believes no refusal that is not signed, at any status', () => {
    const call = { step: 'deduct', address: WALLET } as const;
    const value = { success: false, errorCode: 'ERR-USER-NOT-FOUND', errorMessage: '' };
    const unsigned = { ...reply, status: 404, signature: 'missing', json: { value } } as const;
    for (const status of [200, 400, 401, 404, 409, 422]) {
      expect(judgeReply(call, { ...unsigned, status })).toEqual({
        kind: 'unknown',
        reason: 'signature-missing',
      });
    }
    expect(judgeReply(call, { ...unsigned, signature: 'valid' })).toEqual({
      kind: 'refused',
      code: 'ERR-USER-NOT-FOUND',
    });
  });

  it('keeps a well-formed id and Retry-After of an answer that it does not believe', () => {
    const call = { step: 'deduct', address: WALLET } as const;
    const json = { value: { success: true, partnerTransactionId: 't' } };
    const doubtful = { ...reply, signature: 'wrong', retryAfterSeconds: 7, json } as const;
    expect(judgeReply(call, doubtful)).toEqual({
      kind: 'unknown',
      reason: 'signature-wrong',
      retryAfterSeconds: 7,
      candidateTransactionId: 't',
    });
    expect(judgeReply({ ...call, step: 'revert' }, doubtful)).not.toHaveProperty(
      'candidateTransactionId',
    );
  });
});
