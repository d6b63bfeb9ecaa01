import { describe, expect, it } from '@jest/globals';
import { deductEvent, lostCallEvent } from './call-event.js';
import { type CallOutcome } from './partner-call.js';
import { type OpenCall } from './redemption.js';
import { aCall, aContext, aRedemption, CALL_ID } from './testing/builders.js';
import {
  BY_REDEMPTION,
  ended,
  error,
  type FaultOutcome,
  reply,
  success,
  unknown,
} from './testing/fault-outcomes.js';
import { transition } from './transition.js';

const SPENT = { attempts: { deduct: 5, payout: 0, revert: 40 } };

/** The result of the last attempt, without an earlier unproven attempt and with one. */
const LAST: readonly (readonly [string, FaultOutcome, string, string])[] = [
  ['DNS', () => ({ kind: 'nothing-sent', reason: 'dns' }), 'failed', 'reverting'],
  ['timeout', unknown('timeout'), 'reverting', 'reverting'],
  ['our crash', unknown('crash'), 'reverting', 'reverting'],
  ['502', reply({ status: 502 }), 'reverting', 'reverting'],
  ['ERR-INSUFFICIENT-POINTS', error('ERR-INSUFFICIENT-POINTS'), 'failed', 'reverting'],
  ['ERR-USER-NOT-FOUND', error('ERR-USER-NOT-FOUND'), 'failed', 'reverting'],
  ['ERR-AUTH-FAILED', error('ERR-AUTH-FAILED'), 'reverting +alert', 'reverting +alert'],
  ['signature wrong', success({ signature: 'wrong' }), 'reverting +alert', 'reverting +alert'],
  ['success', success(), 'deducted', 'deducted'],
];

describe('the last deduct attempt', () => {
  it.each(LAST)(
    '%s, nothing unproven before | one unproven before',
    (_name, outcome, first, second) => {
      expect(ended('deduct', outcome('deduct'), SPENT)).toBe(first);
      expect(ended('deduct', outcome('deduct'), { ...SPENT, unprovenAttempts: 2 })).toBe(second);
    },
  );

  it('ERR-INSUFFICIENT-POINTS after an unproven attempt is asked again, for it may be our own echo', () => {
    const before = { unprovenAttempts: 2 };
    const refused = error('ERR-INSUFFICIENT-POINTS')('deduct');
    expect(ended('deduct', refused, before)).toBe('retry unproven');
  });
});

describe('ids that our books know', () => {
  it("another redemption's transaction id is never paid on, and never a candidate", () => {
    for (const fault of [
      success(),
      error('ERR-DUPLICATE-REQUEST', {}, { partnerTransactionId: 'tx-1' }),
    ]) {
      expect(ended('deduct', fault('deduct'), {}, { reused: 'transaction' })).toBe(
        'attention +alert',
      );
    }
  });

  it.each([
    ["another redemption's transaction id", 'transaction'],
    ["another revert's id", 'revert'],
  ] as const)('%s does not confirm a revert', (_name, reused) => {
    const change = { partnerTransactionId: null, openCall: BY_REDEMPTION };
    expect(ended('revert', success()('revert'), change, { reused })).toBe('retry');
    expect(ended('revert', success()('revert'), change)).toBe('reverted');
  });

  it.each<[string, OpenCall]>([
    ['deduct', aCall('deduct')],
    ['revert', aCall('revert')],
  ])('a %s call that our crash cut off is unknown', (step, call) => {
    expect(lostCallEvent(call)).toEqual({
      type: `${step}-unknown`,
      requestId: CALL_ID,
      reason: 'crash',
    });
  });

  it('candidates are kept once each, five at most, and never for a payment', () => {
    let redemption = aRedemption('deducting');
    for (const id of ['a', 'a', 'b', 'c', 'd', 'e', 'f']) {
      const forged = success({ signature: 'wrong' }, { partnerTransactionId: id })('deduct');
      const call = aCall('deduct');
      const event = deductEvent(call, forged as CallOutcome<'deduct'>);
      const decision = transition({ ...redemption, openCall: call }, event, aContext());
      if (decision.kind === 'moved') redemption = decision.next;
    }
    expect(redemption).toMatchObject({
      state: 'deducting',
      partnerTransactionId: null,
      candidateTransactionIds: ['a', 'b', 'c', 'd', 'e'],
    });
  });
});
