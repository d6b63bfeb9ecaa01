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
  readonly expected: RedemptionState | `!${RefusalCode}`;
  readonly given: {
    readonly redemption?: Partial<Redemption>;
    /** Fields that replace those of the ordinary event. */
    readonly event?: object;
    readonly context?: Partial<TransitionContext>;
  };
}

export type CaseRow = readonly [name: string, expected: Way['expected'], given: Way['given']];
type Cell = `${RedemptionState} ${RedemptionEventType}`;

/** The cases by the state and the event of their cell. */
export function waysOf(cases: Readonly<Partial<Record<Cell, readonly CaseRow[]>>>): Way[] {
  return Object.entries(cases).flatMap(([cell, rows]) => {
    const [state, type] = cell.split(' ') as [RedemptionState, RedemptionEventType];
    return rows.map(([name, expected, given]): Way => ({ name, state, type, expected, given }));
  });
}

const noCall = { openCall: null };
const lost = { lostVoucherUntilSeconds: START_MS / 1000 + 4000 };
const inTime = anExpiry(4001 - 1800);
const unasked = { ...noCall, attempts: { deduct: 1, payout: 0, revert: 0 } };
const both = { ...unasked, ...lost };
const planned = { plan: aPlan(), deadEvidence: anExpiry() };
const early = { ...both, ...planned };
const late = { ...both, plan: aPlan(), deadEvidence: inTime };
const writtenOff = { ...unasked, ...planned };
const notAsked = { neverPaid: undefined };
const cancelled = { neverPaid: { ...aClaim(), outcome: 'dead', reason: 'cancelled' } };
const contradiction = { contradiction: 'x' };
const aDayOn = { nowMs: START_MS + 90_000_000 };
const FORGOTTEN: readonly CaseRow[] = [['forgotten', 'reverting', { redemption: lost }]];

/**
 * Cases of redemptions without a plan, in a complete ledger and in a restored one, where nothing is started or planned
 * again.
 */
export const UNPLANNED_WAYS = waysOf({
  'created call-due': FORGOTTEN,
  'created balance-refused': FORGOTTEN,
  'created balance-unknown': FORGOTTEN,
  'created cancel': FORGOTTEN,
  'deducting deduct-refused': [['forgotten', 'deducting', { redemption: lost }]],
  'deducting call-due': [['forgotten', 'reverting', { redemption: { ...noCall, ...lost } }]],
  'deducted plan-committed': [['forgotten', '!ledger-restored', { redemption: lost }]],
  'deducted plan-failed': FORGOTTEN,
  'reverting call-due': [
    ['the vault was not asked', '!vault-not-asked', { redemption: unasked, event: notAsked }],
    ['the vault was asked', 'reverting', { redemption: unasked }],
    [
      'a lost voucher may be open',
      '!vault-not-asked',
      { redemption: both, event: { neverPaid: anExpiry(4000 - 1800) } },
    ],
    [
      'no lost voucher can be open',
      'reverting',
      { redemption: both, event: { neverPaid: inTime } },
    ],
    ['a lost voucher is cancelled', 'reverting', { redemption: both, event: cancelled }],
    [
      'planned since, a lost voucher may be open',
      '!vault-not-asked',
      { redemption: early, event: { neverPaid: anExpiry() } },
    ],
    [
      'planned since, none can be open',
      'reverting',
      { redemption: early, event: { neverPaid: inTime } },
    ],
    [
      'planned since, dead by its row alone',
      '!vault-not-asked',
      { redemption: late, event: notAsked },
    ],
    [
      'written off in the ledger, not by the vault',
      '!vault-not-asked',
      { redemption: writtenOff, event: notAsked },
    ],
  ],
  'reverting payout-paid': [
    ['a lost one', 'claimed', { redemption: both }],
    [
      'a lost one, of no known deduction',
      'attention',
      { redemption: { ...both, partnerTransactionId: null } },
    ],
    ['nothing was lost', 'attention', { redemption: unasked }],
    [
      'another amount',
      '!no-evidence',
      { redemption: both, event: { evidence: aClaim({ amount: 1n }) } },
    ],
  ],
  'reverting payout-live': [
    ['waiting', 'reverting', { redemption: unasked }],
    ['a node out of order', 'reverting', { redemption: unasked, event: contradiction }],
    ['a day long', 'attention', { redemption: unasked, event: contradiction, context: aDayOn }],
    ['a day long, of a silent chain', 'reverting', { redemption: unasked, context: aDayOn }],
    ['written off in the ledger, and still open', 'reverting', { redemption: writtenOff }],
    ['planned since', 'reverting', { redemption: early }],
  ],
  'reverting revert-confirmed': [
    ['planned since, asked before the note', 'reverted', { redemption: { ...lost, ...planned } }],
  ],
  'authorised payout-dead': [
    ['planned since, a lost voucher may be open', '!no-evidence', { redemption: lost }],
    [
      'planned since, none can be open',
      'reverting',
      { redemption: lost, event: { evidence: inTime } },
    ],
  ],
  'attention operator-restored': [
    [
      'planned since, a lost voucher may be open',
      '!vault-not-asked',
      { redemption: { ...lost, ...planned } },
    ],
    [
      'planned since, none can be open',
      'reverted',
      { redemption: { ...lost, ...planned }, context: { nowMs: START_MS + 3 * 3_600_000 } },
    ],
  ],
});
