import { describe, expect, it } from '@jest/globals';
import { type BodyFault } from './body-form.js';
import { type CallEnd, findingOf, findingsOf } from './find.js';
import { explain } from './findings.js';
import { type AskedCall, type Reply } from './judge-answer.js';

const ADDRESS = `0x${'ab'.repeat(20)}`;
const BALANCE = {
  ...{ success: true, partnerUserId: 'u-1', address: ADDRESS, points: 50_000, chain: 'local' },
};
const CALL: AskedCall = { step: 'balance', address: ADDRESS };

const answer = (value: unknown, change: Partial<Reply> = {}): CallEnd => ({
  ...{ kind: 'answer', status: 200, contentType: 'application/json', signature: 'valid' },
  ...{ json: { value }, ...change },
});
const unread = (bodyFault: BodyFault, change: Partial<Reply> = {}): CallEnd =>
  answer(undefined, { json: undefined, bodyFault, ...change });
const refusal = (errorCode: string) => ({ success: false, errorCode, errorMessage: '' });

function explained(end: CallEnd, call: AskedCall = CALL) {
  return explain(findingOf(call, end));
}

describe('a call', () => {
  it.each<[string, CallEnd]>([
    ['points as a text', answer({ ...BALANCE, points: '50000' })],
    ['no signature', answer(BALANCE, { signature: 'missing' })],
    ['ERR-AUTH-FAILED', answer(refusal('ERR-AUTH-FAILED'))],
    ['a code of another call', answer(refusal('ERR-INVALID-AMOUNT'))],
    ['ERR-INTERNAL', answer(refusal('ERR-INTERNAL'), { status: 500 })],
    ['the balance of another address', answer({ ...BALANCE, address: `0x${'1'.repeat(40)}` })],
    ['no answer', { kind: 'no-answer', cause: 'reset' }],
    ['no connection', { kind: 'nothing-sent', cause: 'dns' }],
  ])('is of no use with %s', (_, end) => {
    expect(explained(end).isUsable).toBe(false);
    expect(explained(end).remedy).not.toBe('');
  });

  it.each<[string, CallEnd]>([
    ['a balance', answer(BALANCE)],
    ['a refusal that belongs to it', answer(refusal('ERR-USER-NOT-FOUND'), { status: 404 })],
    ['a signature over the canonical form', answer(BALANCE, { signature: 'canonical' })],
    ['a slow answer', answer(BALANCE, { tookMs: 9000 })],
  ])('is of use with %s', (_, end) => {
    expect(explained(end).isUsable).toBe(true);
  });

  it('to confirm is of use without a signature', () => {
    const end = answer({ success: true }, { signature: 'missing' });
    expect(explained(end, { step: 'confirm' })).toMatchObject({ isUsable: true });
  });
});

describe('an explanation', () => {
  it('names the wrong field, and what it must be', () => {
    expect(explained(answer({ ...BALANCE, points: '50000' }))).toMatchObject({
      rule: 'balance-fields',
      says: 'Wrong or missing: points (expected: a whole number, 0 or more, as a JSON number).',
    });
  });

  it('of a redirect is the redirect, not its missing signature', () => {
    const end = unread('not-json', { status: 307, signature: 'missing' });
    expect(explained(end)).toMatchObject({ rule: 'http-redirect' });
    expect(explained(end).says).toContain('307');
  });

  it('of a byte order mark is the mark, although the signature is wrong for it', () => {
    const end = unread('byte-order-mark', { signature: 'wrong' });
    expect(explained(end)).toMatchObject({ code: 'byte-order-mark', rule: 'http-json' });
  });

  it('of a page speaks of the path of the URL with status 404 only', () => {
    const page = (status: number) => explained(unread('html-page', { status }));
    expect(page(404).remedy).toContain('path of the base URL');
    expect(page(200).remedy).not.toContain('path of the base URL');
    expect(page(200).says).toBe('The answer is an HTML page with status 200.');
  });

  it('of an answer after 9 s speaks of its time', () => {
    expect(explained(answer(BALANCE, { tookMs: 9000 })).says).toContain('9.0 s');
    const late = explained({ kind: 'no-answer', cause: 'timeout', tookMs: 10_004 });
    expect(late).toMatchObject({ rule: 'http-in-time' });
    expect(late.says).toBe('No answer came in time, after 10.0 s.');
  });

  it('names the mistakes that make a wrong signature', () => {
    const finding = findingOf(CALL, answer(BALANCE, { signature: 'wrong' }));
    expect(explain({ ...finding, mistakes: ['It is in base64.'] }).remedy).toBe(
      'Something else is signed: It is in base64.',
    );
  });
});

it('all faults of an answer are found, each once', () => {
  const end = answer(
    { ...BALANCE, points: '5' },
    { status: 201, contentType: 'text/html', signature: 'missing' },
  );
  expect(findingsOf(CALL, end).map(({ code }) => code)).toEqual([
    'content-type',
    'success-status',
    'signature-missing',
    'balance-fields',
  ]);
  expect(findingsOf(CALL, answer(BALANCE)).map(({ code }) => code)).toEqual(['good-success']);
});
