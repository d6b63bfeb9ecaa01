/**
 * The state machine of a redemption, as a table. For each state and event the table has the rule that decides, with the
 * states that the rule may lead to, or the reason why the event has no effect. Invariant: either the points are given
 * back or the tokens are paid, never both and never neither. An unknown outcome is resolved before anything follows
 * from it, or is left to an operator.
 */
import { PermanentError } from '../values/errors.js';
import {
  type Decision,
  refuse,
  type RefusalCode,
  type Rule,
  type TransitionContext,
} from './decision.js';
import * as deduct from './deduct-rules.js';
import * as operator from './operator-rules.js';
import * as payout from './payout-rules.js';
import { type EventOf, type RedemptionEventType } from './redemption-event.js';
import { type Redemption, type RedemptionState } from './redemption.js';
import * as revert from './revert-rules.js';

interface RuledCell<T extends RedemptionEventType> {
  readonly rule: Rule<T>;
  readonly to: readonly RedemptionState[];
}
type Cell<T extends RedemptionEventType> = RefusalCode | RuledCell<T>;
type Row = { readonly [T in RedemptionEventType]: Cell<T> };

/** The row of a state that expects no events. The other rows replace the cells of the events that they expect. */
const IDLE = {
  'balance-refused': 'out-of-place',
  'balance-unknown': 'out-of-place',
  'call-due': 'out-of-place',
  'evidence-rejected': 'out-of-place',
  'deduct-confirmed': 'stale-call',
  'deduct-id-reused': 'stale-call',
  'deduct-refused': 'stale-call',
  'deduct-duplicate': 'stale-call',
  'deduct-unknown': 'stale-call',
  'deduct-not-sent': 'stale-call',
  'plan-committed': 'out-of-place',
  'plan-failed': 'out-of-place',
  'payout-live': 'out-of-place',
  'payout-paid': 'out-of-place',
  'payout-dead': 'out-of-place',
  'revert-confirmed': 'stale-call',
  'revert-already': 'stale-call',
  'revert-not-found': 'stale-call',
  'revert-amount-disputed': 'stale-call',
  'revert-not-sent': 'stale-call',
  'revert-unknown': 'stale-call',
  cancel: 'out-of-place',
  'operator-retry': 'not-in-attention',
  'operator-set-transaction': 'not-in-attention',
  'operator-restored': 'not-in-attention',
  'operator-not-deducted': 'not-in-attention',
  'operator-settled': 'not-in-attention',
} as const satisfies Row;

export const REDEMPTION_EVENT_TYPES = Object.keys(IDLE) as readonly RedemptionEventType[];

const FINAL = everywhere('final');

const TABLE: Readonly<Record<RedemptionState, Row>> = {
  created: {
    ...IDLE,
    'evidence-rejected': { rule: deduct.rejectEvidence, to: ['attention'] },
    'balance-refused': { rule: deduct.balanceRefused, to: ['failed', 'reverting'] },
    'balance-unknown': { rule: deduct.balanceUnknown, to: ['created', 'failed', 'reverting'] },
    'call-due': { rule: deduct.startOrExpire, to: ['deducting', 'failed', 'reverting'] },
    'operator-retry': { rule: operator.dueNow, to: ['created'] },
    cancel: { rule: operator.cancelCreated, to: ['failed', 'reverting'] },
  },
  deducting: {
    ...IDLE,
    'evidence-rejected': { rule: deduct.rejectEvidence, to: ['attention'] },
    'call-due': { rule: deduct.deductAgain, to: ['deducting', 'failed', 'reverting'] },
    'deduct-confirmed': { rule: deduct.deducted, to: ['deducted'] },
    'deduct-id-reused': { rule: deduct.idReused, to: ['attention'] },
    'deduct-refused': { rule: deduct.deductRefused, to: ['deducting', 'failed', 'reverting'] },
    'deduct-duplicate': { rule: deduct.deductDuplicate, to: ['reverting'] },
    'deduct-unknown': { rule: deduct.deductUnknown, to: ['deducting', 'reverting'] },
    'deduct-not-sent': { rule: deduct.deductNotSent, to: ['deducting', 'failed', 'reverting'] },
    cancel: 'not-yet-cancellable',
    'operator-retry': { rule: operator.dueNow, to: ['deducting'] },
    'operator-set-transaction': { rule: operator.setTransactionUnderWay, to: ['reverting'] },
    'operator-not-deducted': { rule: operator.notDeductedUnderWay, to: ['failed'] },
  },
  deducted: {
    ...IDLE,
    'evidence-rejected': { rule: deduct.rejectEvidence, to: ['attention'] },
    'plan-committed': { rule: payout.authorise, to: ['authorised'] },
    'plan-failed': { rule: payout.planLater, to: ['deducted', 'reverting'] },
    cancel: { rule: operator.cancelDeducted, to: ['reverting'] },
    'operator-retry': { rule: operator.dueNow, to: ['deducted'] },
  },
  authorised: {
    ...IDLE,
    'payout-live': { rule: payout.watchOn, to: ['authorised', 'attention'] },
    'payout-paid': { rule: payout.paid, to: ['claimed'] },
    'payout-dead': { rule: payout.dead, to: ['reverting'] },
    cancel: { rule: operator.requestCancel, to: ['authorised'] },
    'operator-retry': { rule: operator.dueNow, to: ['authorised'] },
  },
  reverting: {
    ...IDLE,
    'evidence-rejected': { rule: deduct.rejectEvidence, to: ['attention'] },
    'call-due': { rule: revert.revertNow, to: ['reverting', 'attention'] },
    'payout-live': { rule: payout.awaitVault, to: ['reverting', 'attention'] },
    'payout-paid': { rule: payout.paidAfterDead, to: ['claimed', 'attention'] },
    'revert-confirmed': { rule: revert.revertConfirmed, to: ['reverted'] },
    'revert-already': { rule: revert.alreadyReverted, to: ['reverted'] },
    'revert-not-found': { rule: revert.revertNotFound, to: ['reverting', 'failed', 'attention'] },
    'revert-amount-disputed': { rule: revert.amountDisputed, to: ['attention'] },
    'revert-not-sent': { rule: revert.revertNotSent, to: ['reverting', 'attention'] },
    'revert-unknown': { rule: revert.revertUnknown, to: ['reverting', 'attention'] },
    cancel: 'too-late-to-cancel',
    'operator-retry': { rule: operator.revertAgain, to: ['reverting'] },
    'operator-set-transaction': { rule: operator.setTransactionUnderWay, to: ['reverting'] },
    'operator-restored': { rule: operator.restoredUnderWay, to: ['reverted'] },
    'operator-not-deducted': { rule: operator.notDeductedUnderWay, to: ['failed'] },
  },
  attention: {
    ...everywhere('needs-operator'),
    'operator-retry': { rule: operator.retryByOperator, to: ['authorised', 'reverting'] },
    'operator-set-transaction': { rule: operator.setTransaction, to: ['reverting'] },
    'operator-restored': { rule: operator.restoredOutOfBand, to: ['reverted'] },
    'operator-not-deducted': { rule: operator.notDeductedOutOfBand, to: ['failed'] },
    'operator-settled': { rule: operator.settledByHand, to: ['attention'] },
  },
  claimed: FINAL,
  reverted: FINAL,
  failed: FINAL,
};

function everywhere(code: RefusalCode): Readonly<Record<RedemptionEventType, RefusalCode>> {
  return Object.fromEntries(REDEMPTION_EVENT_TYPES.map((type) => [type, code])) as Record<
    RedemptionEventType,
    RefusalCode
  >;
}

/** The states that an event may lead to from a state, or why the event has no effect there. */
export function cellOf(
  state: RedemptionState,
  type: RedemptionEventType,
): RefusalCode | { readonly to: readonly RedemptionState[] } {
  return TABLE[state][type];
}

/**
 * Decides what follows from an event: the next value with at most one command, or a refusal that changes nothing. The
 * caller writes the next value under the version of the value that it read, and makes the call only after the commit.
 * @throws PermanentError ILLEGAL_TRANSITION where a rule leads to a state that its cell does not allow: a defect of
 * this program, so nothing may be written
 */
export function transition<T extends RedemptionEventType>(
  redemption: Redemption,
  event: EventOf<T>,
  context: TransitionContext,
): Decision {
  const cell: Cell<T> = TABLE[redemption.state][event.type];
  if (typeof cell === 'string') return refuse(cell);
  if (isStale(redemption, event)) return refuse('stale-call');
  const decision = cell.rule(redemption, event, context);
  if (decision.kind === 'moved' && !cell.to.includes(decision.next.state)) {
    throw new PermanentError(
      'ILLEGAL_TRANSITION',
      `${event.type} led from ${redemption.state} to ${decision.next.state}, which the table does not allow.`,
    );
  }
  return decision;
}

/** Whether the event is the result of another call than the open one. */
function isStale({ openCall }: Redemption, event: { readonly type: RedemptionEventType }): boolean {
  if (event.type === 'call-due' || !('requestId' in event)) return false;
  const isOfStep = openCall !== null && event.type.startsWith(`${openCall.step}-`);
  return !isOfStep || openCall.requestId !== event.requestId;
}
