import { describe, expect, it } from '@jest/globals';
import { PARTNER_ERROR_CODES, UNKNOWN_REASONS } from './partner-call.js';
import {
  body,
  ended,
  error,
  type FaultOutcome,
  reply,
  success,
  unknown,
} from './testing/fault-outcomes.js';

/**
 * The fault table, written by hand: fault | outcome | deduct | revert (of a proven deduction) | confirm. `unproven`
 * says that the attempt counts as one that may have deducted.
 */
const TABLE: readonly (readonly [string, FaultOutcome, string])[] = [
  ['DNS', () => ({ kind: 'nothing-sent', reason: 'dns' }), 'retry | retry | retry'],
  [
    'refused',
    () => ({ kind: 'nothing-sent', reason: 'connection-refused' }),
    'retry | retry | retry',
  ],
  ['TLS', () => ({ kind: 'nothing-sent', reason: 'tls' }), 'retry | retry | retry'],
  [
    'blocked address',
    () => ({ kind: 'nothing-sent', reason: 'blocked-address' }),
    'retry | retry | retry',
  ],
  ['timeout', unknown('timeout'), 'retry unproven | retry | retry'],
  ['reset', unknown('reset'), 'retry unproven | retry | retry'],
  ['half an answer', unknown('half-answer'), 'retry unproven | retry | retry'],
  ['our crash', unknown('crash'), 'retry unproven | retry | retry'],
  ['500', reply({ status: 500, signature: 'missing' }), 'retry unproven | retry | retry'],
  ['503', reply({ status: 503, signature: 'missing' }), 'retry unproven | retry | retry'],
  [
    '500 with an envelope',
    error('ERR-INSUFFICIENT-POINTS', { status: 500 }),
    'retry unproven | retry | retry',
  ],
  ['429', reply({ status: 429, signature: 'missing' }), 'retry unproven | retry | retry'],
  [
    '429 with an envelope',
    error('ERR-USER-NOT-FOUND', { status: 429 }),
    'retry unproven | retry | retry',
  ],
  [
    '4xx without envelope',
    reply({ status: 404, signature: 'missing' }),
    'retry unproven | retry | retry',
  ],
  ['4xx that says success', success({ status: 400 }), 'retry unproven | retry | retry'],
  ['201', success({ status: 201 }), 'retry unproven | retry | retry'],
  ['ERR-INTERNAL', error('ERR-INTERNAL'), 'retry unproven | retry | retry'],
  ['an unknown code', error('ERR-WHAT'), 'retry unproven | retry | retry'],
  [
    'success not boolean',
    body({ success: 'true', partnerTransactionId: 'tx-1' }),
    'retry unproven | retry | retry',
  ],
  ['malformed JSON', reply({}), 'retry unproven | retry | retry'],
  ['HTML', success({ contentType: 'text/html' }), 'retry unproven | retry | retry'],
  [
    'signature missing',
    success({ signature: 'missing' }),
    'retry unproven +alert | retry +alert | delivered',
  ],
  [
    'signature wrong',
    success({ signature: 'wrong' }),
    'retry unproven +alert | retry +alert | delivered',
  ],
  [
    'refusal, signature missing',
    error('ERR-INSUFFICIENT-POINTS', { signature: 'missing' }),
    'retry unproven +alert | retry +alert | retry',
  ],
  [
    'refusal, signature wrong',
    error('ERR-INSUFFICIENT-POINTS', { status: 400, signature: 'wrong' }),
    'retry unproven +alert | retry +alert | retry',
  ],
  [
    'refusal with 4xx, unsigned',
    error('ERR-INSUFFICIENT-POINTS', { status: 422, signature: 'missing' }),
    'retry unproven +alert | retry +alert | retry',
  ],
  [
    'transaction id a number',
    success({}, { partnerTransactionId: 7 }),
    'retry unproven +alert | retry | delivered',
  ],
  [
    'transaction id empty',
    success({}, { partnerTransactionId: '' }),
    'retry unproven +alert | retry | delivered',
  ],
  [
    'transaction id of 256',
    success({}, { partnerTransactionId: 'x'.repeat(256) }),
    'retry unproven +alert | retry | delivered',
  ],
  [
    'no transaction id',
    body({ success: true, partnerRevertId: 'r' }),
    'retry unproven +alert | retry | delivered',
  ],
  [
    'another transaction id than ours',
    success({}, { partnerTransactionId: 'tx-2' }),
    'deducted | retry | delivered',
  ],
  ['no revert id', success({}, { partnerRevertId: undefined }), 'deducted | retry | delivered'],
  [
    'revert id like the transaction id',
    success({}, { partnerRevertId: 'tx-1' }),
    'deducted | retry | delivered',
  ],
  ['ERR-INSUFFICIENT-POINTS', error('ERR-INSUFFICIENT-POINTS'), 'failed | retry | retry'],
  ['ERR-USER-NOT-FOUND', error('ERR-USER-NOT-FOUND'), 'failed | retry | retry'],
  [
    'ERR-DUPLICATE-REQUEST with id',
    error('ERR-DUPLICATE-REQUEST', {}, { partnerTransactionId: 'tx-1' }),
    'deducted | retry | delivered',
  ],
  [
    'ERR-DUPLICATE-REQUEST with id, unsigned',
    error(
      'ERR-DUPLICATE-REQUEST',
      { status: 409, signature: 'missing' },
      { partnerTransactionId: 'tx-1' },
    ),
    'retry unproven +alert | retry +alert | delivered',
  ],
  [
    'ERR-DUPLICATE-REQUEST with an id that is none',
    error('ERR-DUPLICATE-REQUEST', {}, { partnerTransactionId: 5 }),
    'reverting | retry | delivered',
  ],
  ['ERR-DUPLICATE-REQUEST', error('ERR-DUPLICATE-REQUEST'), 'reverting | retry | delivered'],
  [
    'ERR-TRANSACTION-NOT-FOUND',
    error('ERR-TRANSACTION-NOT-FOUND'),
    'retry unproven | retry | retry',
  ],
  ['ERR-ALREADY-REVERTED', error('ERR-ALREADY-REVERTED'), 'retry unproven | reverted | retry'],
  [
    'ERR-ALREADY-REVERTED, unsigned',
    error('ERR-ALREADY-REVERTED', { status: 409, signature: 'missing' }),
    'retry unproven +alert | retry +alert | retry',
  ],
  [
    'ERR-INVALID-AMOUNT, unsigned',
    error('ERR-INVALID-AMOUNT', { status: 422, signature: 'missing' }),
    'retry unproven +alert | retry +alert | retry',
  ],
  ['ERR-INVALID-AMOUNT', error('ERR-INVALID-AMOUNT'), 'retry unproven | attention +alert | retry'],
  ['ERR-REDEMPTION-NOT-FOUND', error('ERR-REDEMPTION-NOT-FOUND'), 'retry unproven | retry | retry'],
  [
    'ERR-AUTH-FAILED',
    error('ERR-AUTH-FAILED'),
    'retry unproven +alert | retry +alert | retry +alert',
  ],
  [
    'redirect',
    reply({ status: 302, signature: 'missing' }),
    'retry unproven +alert | retry | retry',
  ],
  ['slow trickle', unknown('too-slow'), 'retry unproven +alert | retry | retry'],
  ['body too large', unknown('too-large'), 'retry unproven +alert | retry | retry'],
  ['success', success(), 'deducted | reverted | delivered'],
];

const STEPS = ['deduct', 'revert', 'confirm'] as const;
const cells = TABLE.flatMap(([fault, outcome, row]) =>
  STEPS.map((step, index) => ({ fault, outcome, step, expected: row.split(' | ')[index] })),
);

describe('every fault x step cell', () => {
  it.each(cells)('$fault x $step: $expected', ({ outcome, step, expected }) => {
    expect(ended(step, outcome(step))).toBe(expected);
  });

  it('names every code and every reason of an unknown outcome', () => {
    const outcomes = TABLE.map(([, outcome]) => outcome('deduct'));
    const codes = outcomes.flatMap((one) => (one.kind === 'refused' ? [one.code] : []));
    const reasons = outcomes.flatMap((one) => (one.kind === 'unknown' ? [one.reason] : []));
    // `invalid-answer` needs a field that only a balance has. The others appear under the reason, or the code, that
    // they correspond to.
    const unseen = ['invalid-answer', 'ERR-INTERNAL', 'auth-failed'];
    for (const name of [...PARTNER_ERROR_CODES, ...UNKNOWN_REASONS]) {
      if (!unseen.includes(name)) expect([...codes, ...reasons]).toContain(name);
    }
  });
});
