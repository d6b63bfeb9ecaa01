/** Cases of the transition table beside the ordinary course, for the specs. */
import { type RefusalCode, type TransitionContext } from '../decision.js';
import { type RedemptionEventType } from '../redemption-event.js';
import { type Redemption, type RedemptionState } from '../redemption.js';
import { aClaim, anExpiry, aPlan, START_MS } from './builders.js';

/** A case of one cell beside the ordinary course, with its preconditions. */
export interface Way {
  readonly name: string;
  readonly state: RedemptionState;
  readonly type: RedemptionEventType;
  readonly given: {
    readonly redemption?: Partial<Redemption>;
    /** Fields that replace those of the ordinary event. */
    readonly event?: object;
    readonly context?: Partial<TransitionContext>;
  };
  readonly expected: RedemptionState | `!${RefusalCode}`;
}

type NoteWay = (
  name: string,
  cell: [RedemptionState, RedemptionEventType],
  given: Way['given'],
  expected: Way['expected'],
) => void;

export function noteIn(ways: Way[]): NoteWay {
  return (name, [state, type], given, expected) => {
    ways.push({ name, state, type, given, expected });
  };
}

/**
 * Cases of redemptions without a plan, in a complete ledger and in a restored one, where nothing is started or planned
 * again.
 */
export function unplannedWays(): Way[] {
  const ways: Way[] = [];
  const way = noteIn(ways);
  const noCall = { openCall: null };
  const lost = { lostVoucherUntilSeconds: START_MS / 1000 + 4000 };
  const inTime = anExpiry(4001 - 1800);
  way('forgotten', ['created', 'call-due'], { redemption: lost }, 'reverting');
  way('forgotten', ['created', 'balance-refused'], { redemption: lost }, 'reverting');
  way('forgotten', ['created', 'balance-unknown'], { redemption: lost }, 'reverting');
  way('forgotten', ['created', 'cancel'], { redemption: lost }, 'reverting');
  way('forgotten', ['deducting', 'deduct-refused'], { redemption: lost }, 'deducting');
  way('forgotten', ['deducting', 'call-due'], { redemption: { ...noCall, ...lost } }, 'reverting');
  way('forgotten', ['deducted', 'plan-committed'], { redemption: lost }, '!ledger-restored');
  way('forgotten', ['deducted', 'plan-failed'], { redemption: lost }, 'reverting');
  const unasked = { ...noCall, attempts: { deduct: 1, payout: 0, revert: 0 } };
  way(
    'the vault was not asked',
    ['reverting', 'call-due'],
    { redemption: unasked, event: { neverPaid: undefined } },
    '!vault-not-asked',
  );
  way('the vault was asked', ['reverting', 'call-due'], { redemption: unasked }, 'reverting');
  way(
    'a lost voucher may be open',
    ['reverting', 'call-due'],
    { redemption: { ...unasked, ...lost }, event: { neverPaid: anExpiry(4000 - 1800) } },
    '!vault-not-asked',
  );
  way(
    'no lost voucher can be open',
    ['reverting', 'call-due'],
    { redemption: { ...unasked, ...lost }, event: { neverPaid: inTime } },
    'reverting',
  );
  way(
    'a lost voucher is cancelled',
    ['reverting', 'call-due'],
    {
      redemption: { ...unasked, ...lost },
      event: { neverPaid: { ...aClaim(), outcome: 'dead', reason: 'cancelled' } },
    },
    'reverting',
  );
  way(
    'a lost one',
    ['reverting', 'payout-paid'],
    { redemption: { ...unasked, ...lost } },
    'claimed',
  );
  way(
    'a lost one, of no known deduction',
    ['reverting', 'payout-paid'],
    { redemption: { ...unasked, ...lost, partnerTransactionId: null } },
    'attention',
  );
  way('nothing was lost', ['reverting', 'payout-paid'], { redemption: unasked }, 'attention');
  way(
    'another amount',
    ['reverting', 'payout-paid'],
    { redemption: { ...unasked, ...lost }, event: { evidence: aClaim({ amount: 1n }) } },
    '!no-evidence',
  );
  way('waiting', ['reverting', 'payout-live'], { redemption: unasked }, 'reverting');
  way(
    'a node out of order',
    ['reverting', 'payout-live'],
    { redemption: unasked, event: { contradiction: 'x' } },
    'reverting',
  );
  way(
    'a day long',
    ['reverting', 'payout-live'],
    {
      redemption: unasked,
      event: { contradiction: 'x' },
      context: { nowMs: START_MS + 90_000_000 },
    },
    'attention',
  );
  way(
    'a day long, of a silent chain',
    ['reverting', 'payout-live'],
    { redemption: unasked, context: { nowMs: START_MS + 90_000_000 } },
    'reverting',
  );
  const planned = { ...unasked, ...lost, plan: aPlan() };
  const early = { ...planned, deadEvidence: anExpiry() };
  const late = { ...planned, deadEvidence: inTime };
  way(
    'planned since, a lost voucher may be open',
    ['reverting', 'call-due'],
    { redemption: early, event: { neverPaid: anExpiry() } },
    '!vault-not-asked',
  );
  way(
    'planned since, none can be open',
    ['reverting', 'call-due'],
    { redemption: early, event: { neverPaid: inTime } },
    'reverting',
  );
  way(
    'planned since, dead by its row alone',
    ['reverting', 'call-due'],
    { redemption: late, event: { neverPaid: undefined } },
    '!vault-not-asked',
  );
  const writtenOff = { ...unasked, plan: aPlan(), deadEvidence: anExpiry() };
  way(
    'written off in the ledger, not by the vault',
    ['reverting', 'call-due'],
    { redemption: writtenOff, event: { neverPaid: undefined } },
    '!vault-not-asked',
  );
  way(
    'written off in the ledger, and still open',
    ['reverting', 'payout-live'],
    { redemption: writtenOff },
    'reverting',
  );
  way('planned since', ['reverting', 'payout-live'], { redemption: early }, 'reverting');
  way(
    'planned since, asked before the note',
    ['reverting', 'revert-confirmed'],
    { redemption: { ...lost, plan: aPlan(), deadEvidence: anExpiry() } },
    'reverted',
  );
  way(
    'planned since, a lost voucher may be open',
    ['authorised', 'payout-dead'],
    { redemption: lost },
    '!no-evidence',
  );
  way(
    'planned since, none can be open',
    ['authorised', 'payout-dead'],
    { redemption: lost, event: { evidence: inTime } },
    'reverting',
  );
  way(
    'planned since, a lost voucher may be open',
    ['attention', 'operator-restored'],
    { redemption: { ...lost, plan: aPlan(), deadEvidence: anExpiry() } },
    '!vault-not-asked',
  );
  way(
    'planned since, none can be open',
    ['attention', 'operator-restored'],
    {
      redemption: { ...lost, plan: aPlan(), deadEvidence: anExpiry() },
      context: { nowMs: START_MS + 3 * 3_600_000 },
    },
    'reverted',
  );
  return ways;
}
