import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formOf, STEPS } from './answer-form.js';

const BALANCE = {
  success: true,
  partnerUserId: 'u-1',
  address: `0x${'Ab'.repeat(20)}`,
  points: 0,
  chain: 'ronin',
};

describe('the form of an answer', () => {
  it('is that of a success, whatever else the answer has', () => {
    const revert = { success: true, partnerTransactionId: 't', partnerRevertId: 'r' };
    const right = { kind: 'success', wrong: [] };
    expect(formOf('balance', { ...BALANCE, level: 3 })).toMatchObject(right);
    expect(formOf('deduct', { success: true, partnerTransactionId: 't' })).toMatchObject(right);
    expect(formOf('revert', revert)).toEqual({ ...right, fields: revert });
    expect(formOf('confirm', { success: true, a: 1 })).toMatchObject(right);
  });

  it('is that of the error envelope at every step, also with a code of the partner', () => {
    for (const step of STEPS) {
      const value = { success: false, errorCode: 'ERR-INTERNAL', errorMessage: 'x'.repeat(3000) };
      expect(formOf(step, { ...value, trace: 'a' })).toMatchObject({
        ...{ kind: 'refusal', code: 'ERR-INTERNAL', wrong: [] },
      });
      expect(formOf(step, { ...value, errorCode: 'ERR-MOON' })).toMatchObject({ code: 'ERR-MOON' });
    }
  });

  it.each([
    ['errorCode', { errorMessage: '' }],
    ['errorCode', { errorCode: 5, errorMessage: '' }],
    ['errorCode', { errorCode: 'x'.repeat(65), errorMessage: '' }],
    ['errorMessage', { errorCode: 'ERR-INTERNAL' }],
    ['errorMessage', { errorCode: 'ERR-INTERNAL', errorMessage: null }],
  ])('is an envelope with a wrong %s', (field, value) => {
    const form = formOf('deduct', { success: false, ...value });
    expect(form).toMatchObject({ kind: 'refusal', wrong: [field] });
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
  ])('is neither where no success is true or false: %p', (value) => {
    for (const step of STEPS) expect(formOf(step, value)).toEqual({ kind: 'neither' });
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
  ])('has a wrong field where the %s of a balance is %p', (field, value) => {
    expect(formOf('balance', { ...BALANCE, [field]: value })).toMatchObject({
      ...{ kind: 'success', wrong: [field] },
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
  ])('has a wrong field with the transaction id %p', (partnerTransactionId) => {
    expect(formOf('deduct', { success: true, partnerTransactionId })).toMatchObject({
      wrong: ['partnerTransactionId'],
    });
  });

  it('takes a transaction id of 255 characters, whatever the language', () => {
    for (const partnerTransactionId of ['x'.repeat(255), ' ', 'ключ-😀']) {
      expect(formOf('deduct', { success: true, partnerTransactionId })).toMatchObject({
        wrong: [],
      });
    }
  });

  it('does not take a field from the prototype', () => {
    const value = JSON.parse('{"success":true,"__proto__":{"partnerTransactionId":"t"}}') as object;
    expect(formOf('deduct', value)).toMatchObject({ wrong: ['partnerTransactionId'] });
    const inherited: unknown = Object.assign(Object.create({ partnerTransactionId: 't' }), {
      success: true,
    });
    expect(formOf('deduct', inherited)).toMatchObject({ wrong: ['partnerTransactionId'] });
  });

  it('is found without an error for any value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...STEPS), fc.jsonValue(), (step, value) => {
        const kinds = ['success', 'refusal', 'neither'];
        expect(kinds).toContain(formOf(step, value).kind);
        expect(kinds).toContain(formOf(step, { ...BALANCE, ...(value as object) }).kind);
      }),
    );
  });
});
