import { describe, expect, it } from '@jest/globals';
import {
  FRESHNESS_WINDOW_MS,
  freshUntilMs,
  mayRestore,
  nothingUnproven,
  provesNeverDeducted,
  provesNeverPaid,
  revertTarget,
} from './guards.js';
import { PARTNER_CAPABILITIES, type PartnerCapability } from './partner-call.js';
import { aCall, aClaim, anExpiry, aPlan, aRedemption, START_MS } from './testing/builders.js';

const policyOf = (...capabilities: PartnerCapability[]) => ({ capabilities, confirms: true });
const ALL = policyOf(...PARTNER_CAPABILITIES);
const UNPROVEN = aRedemption('reverting', { partnerTransactionId: null });

describe('ERR-TRANSACTION-NOT-FOUND as a proof (rule E)', () => {
  const late = START_MS + FRESHNESS_WINDOW_MS + 1;
  const call = aCall('revert', { startedAtMs: late, target: { by: 'redemption' } });

  it.each<[string, boolean, Parameters<typeof provesNeverDeducted>]>([
    ['all conditions', true, [UNPROVEN, call, ALL]],
    ['tombstones only', true, [UNPROVEN, call, policyOf('revert-by-redemption-id', 'tombstones')]],
    [
      'freshness only',
      true,
      [UNPROVEN, call, policyOf('revert-by-redemption-id', 'enforces-freshness')],
    ],
    [
      'neither',
      false,
      [UNPROVEN, call, policyOf('revert-by-redemption-id', 'signs-all-responses')],
    ],
    ['not by redemption id', false, [UNPROVEN, call, policyOf('tombstones', 'enforces-freshness')]],
    ['asked within the window', false, [UNPROVEN, { ...call, startedAtMs: late - 1 }, ALL]],
    [
      'asked with a candidate',
      false,
      [UNPROVEN, { ...call, target: { by: 'candidate', transactionId: 'c' } }, ALL],
    ],
    ['proven before', false, [aRedemption('reverting'), call, ALL]],
  ])('%s: %s', (_name, expected, given) => {
    expect(provesNeverDeducted(...given)).toBe(expected);
  });

  it('has no window where nothing was ever sent', () => {
    expect(freshUntilMs({ ...UNPROVEN, lastDeductAtMs: null })).toBe(0);
    expect(freshUntilMs({ ...UNPROVEN, lastDeductAtMs: 5 })).toBe(600_005);
  });
});

describe('the order of rule E', () => {
  const given = { ...UNPROVEN, candidateTransactionIds: ['c-1', 'c-2'] };

  it('is: the proven id, the redemption id, a candidate, a person', () => {
    const candidate = { by: 'candidate', transactionId: 'c-1' };
    const proven = { ...given, partnerTransactionId: 'tx-1' };
    expect(revertTarget(proven, policyOf())).toEqual({ by: 'transaction', transactionId: 'tx-1' });
    // The partner has not found the pair of ids, so the redemption id alone and the pair are tried in turn.
    const refused = { ...proven, firstNotFoundAtMs: START_MS };
    expect(revertTarget(refused, ALL)).toEqual({ by: 'redemption' });
    expect(revertTarget(refused, policyOf('refuses-mismatched-pair'))?.by).toBe('transaction');
    expect(revertTarget({ ...refused, redemptionIdRefuted: true }, ALL)?.by).toBe('transaction');
    expect(revertTarget(given, ALL)).toEqual({ by: 'redemption' });
    expect(revertTarget({ ...given, redemptionIdRefuted: true }, ALL)).toEqual(candidate);
    expect(revertTarget(given, policyOf('refuses-mismatched-pair'))).toEqual(candidate);
    expect(
      revertTarget(given, policyOf('tombstones', 'enforces-freshness', 'signs-all-responses')),
    ).toBeUndefined();
    expect(revertTarget(UNPROVEN, policyOf('refuses-mismatched-pair'))).toBeUndefined();
  });
});

describe('a redemption of which the row is no proof (rule F)', () => {
  const whole = { plan: null, lostVoucherUntilSeconds: null };
  const lost = { plan: null, lostVoucherUntilSeconds: aPlan().deadlineSeconds };
  const longer = { lostVoucherUntilSeconds: aPlan().deadlineSeconds + 60 };
  const cancelled = { ...aClaim(), outcome: 'dead', reason: 'cancelled' } as const;

  it.each([
    ['the vault was not asked', false, whole, undefined],
    ['the vault knows nothing of it', true, whole, anExpiry(-900)],
    ['a lost voucher is still good', false, lost, anExpiry(0)],
    ['a lost voucher has expired', true, lost, anExpiry(1)],
    ['a lost voucher was cancelled', true, lost, cancelled],
    ['its plan has not expired', false, { ...whole, plan: aPlan() }, anExpiry(0)],
    ['its plan has, a lost voucher has not', false, { ...longer, plan: aPlan() }, anExpiry(60)],
    ['both have expired', true, { ...longer, plan: aPlan() }, anExpiry(61)],
  ])('%s: %s', (_name, expected, change, evidence) => {
    expect(provesNeverPaid({ ...UNPROVEN, ...change }, evidence)).toBe(expected);
  });

  it('has calls that nobody remembers where the ledger was restored', () => {
    const none = { ...UNPROVEN, unprovenAttempts: 0, lostVoucherUntilSeconds: null };
    expect(nothingUnproven(none)).toBe(true);
    expect(nothingUnproven({ ...none, unprovenAttempts: 1 })).toBe(false);
    expect(nothingUnproven({ ...none, lostVoucherUntilSeconds: 1 })).toBe(false);
  });
});

describe('points may go back (rule F)', () => {
  const none = { deadEvidence: null, paidEvidence: null, lostVoucherUntilSeconds: null };
  const nothing = { ...none, plan: null };
  const plan = aPlan();
  const lost = { ...nothing, plan, lostVoucherUntilSeconds: plan.deadlineSeconds + 60 };
  const cancelled = { ...aClaim(), outcome: 'dead', reason: 'cancelled' } as const;

  it.each([
    ['never authorised', true, nothing],
    ['authorised', false, { ...nothing, plan }],
    ['expired at a final block', true, { ...nothing, plan, deadEvidence: anExpiry() }],
    ['a final block of just the deadline', false, { ...nothing, plan, deadEvidence: anExpiry(0) }],
    ['paid after all', false, { ...none, plan, deadEvidence: anExpiry(), paidEvidence: aClaim() }],
    ['a lost voucher outlives the plan', false, { ...lost, deadEvidence: anExpiry(60) }],
    ['neither is left', true, { ...lost, deadEvidence: anExpiry(61) }],
    ['both were cancelled', true, { ...lost, deadEvidence: cancelled }],
  ])('%s: %s', (_name, expected, given) => {
    expect(mayRestore({ ...UNPROVEN, ...given })).toBe(expected);
  });
});
