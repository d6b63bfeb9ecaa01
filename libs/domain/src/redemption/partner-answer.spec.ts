import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PARTNER_STEPS } from './partner-call.js';
import { judgeReply } from './partner-answer.js';
import { parsePartnerAnswer } from './partner-answer.js';
import { WALLET } from './testing/builders.js';

const BALANCE = {
  success: true,
  partnerUserId: 'u-1',
  address: WALLET.toUpperCase().replace('0X', '0x'),
  points: 0,
  chain: 'ronin',
};

describe('parsePartnerAnswer', () => {
  it('reads each success, and keeps what the interface does not name', () => {
    expect(parsePartnerAnswer('balance', { ...BALANCE, level: 3 })).toEqual({
      kind: 'success',
      answer: { partnerUserId: 'u-1', address: WALLET, points: 0n, chain: 'ronin' },
      extra: { level: 3 },
    });
    expect(parsePartnerAnswer('deduct', { success: true, partnerTransactionId: 't' })).toEqual({
      kind: 'success',
      answer: { partnerTransactionId: 't' },
      extra: {},
    });
    const revert = { partnerTransactionId: 't', partnerRevertId: 'r' };
    expect(parsePartnerAnswer('revert', { success: true, ...revert })).toMatchObject({
      answer: revert,
    });
    expect(parsePartnerAnswer('confirm', { success: true, a: 1 })).toEqual({
      kind: 'success',
      answer: {},
      extra: { a: 1 },
    });
  });

  it('reads the error envelope at every step, also with a code of the partner', () => {
    for (const step of PARTNER_STEPS) {
      const value = { success: false, errorCode: 'ERR-INTERNAL', errorMessage: 'x'.repeat(3000) };
      expect(parsePartnerAnswer(step, { ...value, trace: 'a' })).toEqual({
        kind: 'error',
        code: 'ERR-INTERNAL',
        errorCode: 'ERR-INTERNAL',
        errorMessage: 'x'.repeat(2000),
        extra: { trace: 'a' },
      });
      expect(parsePartnerAnswer(step, { ...value, errorCode: 'ERR-MOON' })).toMatchObject({
        code: undefined,
        errorCode: 'ERR-MOON',
      });
    }
  });

  it.each([
    ['errorCode', { errorMessage: '' }],
    ['errorCode', { errorCode: 5, errorMessage: '' }],
    ['errorCode', { errorCode: 'x'.repeat(65), errorMessage: '' }],
    ['errorMessage', { errorCode: 'ERR-INTERNAL' }],
    ['errorMessage', { errorCode: 'ERR-INTERNAL', errorMessage: null }],
  ])('refuses an envelope with a wrong %s', (field, value) => {
    expect(parsePartnerAnswer('deduct', { success: false, ...value })).toEqual({
      kind: 'invalid',
      fault: 'invalid-field',
      field,
    });
  });

  it.each([
    undefined,
    null,
    1,
    'true',
    [],
    [true],
    {},
    { success: 1 },
    { success: 'true' },
    { success: null },
  ])('finds no boolean success in %p', (value) => {
    for (const step of PARTNER_STEPS) {
      expect(parsePartnerAnswer(step, value)).toMatchObject({ fault: 'success-not-boolean' });
    }
  });

  it.each<[string, unknown]>([
    ['points', -1],
    ['points', 1.5],
    ['points', '5'],
    ['points', 2 ** 53],
    ['points', null],
    ['address', '0x12'],
    ['address', 5],
    ['partnerUserId', 5],
    ['partnerUserId', ''],
    ['chain', ''],
    ['chain', 'c'.repeat(65)],
  ])('refuses a balance whose %s is %p', (field, value) => {
    expect(parsePartnerAnswer('balance', { ...BALANCE, [field]: value })).toEqual({
      kind: 'invalid',
      fault: 'invalid-field',
      field,
    });
  });

  it.each<[unknown]>([
    [''],
    ['x'.repeat(256)],
    ['a\u0000b'],
    ['a\nb'],
    ['\ud800'],
    [7],
    [null],
    [{}],
  ])('refuses the transaction id %p', (partnerTransactionId) => {
    expect(parsePartnerAnswer('deduct', { success: true, partnerTransactionId })).toMatchObject({
      kind: 'invalid',
      field: 'partnerTransactionId',
    });
  });

  it('takes a transaction id of 255 characters, whatever the language', () => {
    for (const partnerTransactionId of ['x'.repeat(255), ' ', 'ключ-😀']) {
      expect(parsePartnerAnswer('deduct', { success: true, partnerTransactionId })).toMatchObject({
        answer: { partnerTransactionId },
      });
    }
  });

  it('does not take a field from the prototype', () => {
    const value = JSON.parse('{"success":true,"__proto__":{"partnerTransactionId":"t"}}') as object;
    expect(parsePartnerAnswer('deduct', value)).toMatchObject({ kind: 'invalid' });
    const inherited: unknown = Object.assign(Object.create({ partnerTransactionId: 't' }), {
      success: true,
    });
    expect(parsePartnerAnswer('deduct', inherited)).toMatchObject({ kind: 'invalid' });
  });

  it('throws at nothing', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PARTNER_STEPS), fc.jsonValue(), (step, value) => {
        const kinds = ['success', 'error', 'invalid'];
        expect(kinds).toContain(parsePartnerAnswer(step, value).kind);
        const near = { ...BALANCE, ...(value as object) };
        expect(kinds).toContain(parsePartnerAnswer(step, near).kind);
      }),
    );
  });
});

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
