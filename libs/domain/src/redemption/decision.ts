import { type ConfirmationPayload, confirmationPayload } from './confirmation.js';
import { mayRestore } from './guards.js';
import { type PartnerPolicy, type PartnerRequest } from './partner-call.js';
import { type EventOf, type RedemptionEventType } from './redemption-event.js';
import {
  type OpenCall,
  type Redemption,
  type RedemptionReason,
  type ResumableState,
  type RevertReason,
} from './redemption.js';
import { type UuidV7 } from './uuid-v7.js';

export interface TransitionContext {
  readonly nowMs: number;
  /** Random number in [0, 1) for the jitter of retries. */
  readonly jitter: number;
  readonly policy: PartnerPolicy;
}

/** The action that belongs to a transition, besides writing the row. All other actions follow from the next state. */
export type Command =
  /**
   * The row of the call is written in the transaction of the transition (rule A). The call is made after the commit, at
   * most once.
   */
  | { readonly kind: 'call-partner'; readonly requestId: UuidV7; readonly request: PartnerRequest }
  /** The delivery of rule H, written in the transaction of the transition; a redemption has at most one. */
  | { readonly kind: 'confirm'; readonly payload: ConfirmationPayload };

export interface Moved {
  readonly kind: 'moved';
  readonly next: Redemption;
  readonly command: Command | null;
}

export type Rule<T extends RedemptionEventType> = (
  redemption: Redemption,
  event: EventOf<T>,
  context: TransitionContext,
) => Decision;

const REFUSALS = {
  final: 'This redemption is finished.',
  'needs-operator': 'This redemption waits for a decision of the operator.',
  'not-in-attention': 'This redemption needs no decision: it goes on by itself.',
  'out-of-place': 'This does not happen in the present state.',
  'call-open': 'The outcome of a call to the partner is still open.',
  'stale-call': 'This is the result of a call that is no longer waited for.',
  'too-late-to-cancel': 'The points are already on their way back.',
  'not-yet-cancellable': 'The points are just being deducted. Try again in a moment.',
  'invalid-plan': 'The payout plan is not that of this redemption, or its deadline has passed.',
  'no-evidence': 'The evidence does not prove what became of the payout.',
  'not-restorable': 'The tokens may still be claimed, so the points cannot go back.',
  'vault-not-asked': 'A final block has not said yet that the vault never pays this redemption.',
  'ledger-restored':
    'The ledger was restored from a backup: this redemption may have been paid, so it is not planned again.',
  'invalid-transaction-id': 'A transaction id is a text of 1 to 255 characters.',
  'transaction-id-known': 'The transaction id is already known and stays.',
  'deduction-proven': 'The partner has confirmed this deduction.',
  'too-fresh': 'A call to deduct could still reach the partner. Try again in ten minutes.',
  'contradictory-evidence':
    'Points and tokens contradict each other here: no command can give or take either.',
  'not-contradictory': 'Points and tokens do not contradict each other here: it can still end.',
} as const;

/** Why an event has no effect in the present state. */
export type RefusalCode = keyof typeof REFUSALS;

export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  /** Text for users and operators. */
  readonly message: string;
}

export type Decision = Moved | Refusal;

export function refuse(code: RefusalCode): Refusal {
  return { kind: 'refused', code, message: REFUSALS[code] };
}

export function move(
  redemption: Redemption,
  { nowMs }: TransitionContext,
  change: Partial<Redemption>,
  command: Command | null = null,
): Moved {
  const entered = change.state !== undefined && change.state !== redemption.state;
  const next = { ...redemption, ...change, version: redemption.version + 1 };
  return { kind: 'moved', next: entered ? { ...next, stateSinceMs: nowMs } : next, command };
}

/** Opens a call and returns the command that makes it. The open call is committed before the first byte is sent. */
export function call(
  redemption: Redemption,
  context: TransitionContext,
  { openCall, request }: { readonly openCall: OpenCall; readonly request: PartnerRequest },
  change: Partial<Redemption>,
): Moved {
  const { requestId } = openCall;
  const next = { ...change, openCall, nextActionAtMs: context.nowMs };
  return move(redemption, context, next, { kind: 'call-partner', requestId, request });
}

export function fail(
  redemption: Redemption,
  context: TransitionContext,
  reason: RedemptionReason,
  change: Partial<Redemption> = {},
): Moved {
  return move(redemption, context, {
    ...change,
    state: 'failed',
    reason,
    resume: null,
    openCall: null,
    nextActionAtMs: null,
    failedAtMs: context.nowMs,
  });
}

/**
 * Rule F: the way into `reverting`, except from `attention`, where an operator's command leads back to it. Where the
 * ledger has no plan, the vault is asked later, before the first revert call.
 */
export function restore(
  redemption: Redemption,
  context: TransitionContext,
  revertReason: RevertReason,
  change: Partial<Redemption> = {},
): Decision {
  if (!mayRestore({ ...redemption, ...change })) return refuse('not-restorable');
  return move(redemption, context, {
    ...change,
    state: 'reverting',
    reason: revertReason,
    revertReason,
    openCall: null,
    nextActionAtMs: context.nowMs,
  });
}

/**
 * Rules D and E in a restored ledger: the redemption is resolved by a revert and never paid, like one with an unknown
 * call. All events since the backup are lost, so no deduction is started again and no payout is planned again
 * (docs/operating/backup.md).
 */
export function revertAfterRestore(
  redemption: Redemption,
  context: TransitionContext,
  reason: RevertReason,
): Decision {
  const { nowMs } = context;
  return restore(redemption, context, reason, {
    exposure: 'possible',
    unprovenAttempts: Math.max(1, redemption.unprovenAttempts),
    lastDeductAtMs: nowMs,
    pendingAtMs: redemption.pendingAtMs ?? nowMs,
  });
}

/**
 * The end of `reverting`: the points are given back. A restore of the ledger that was noted after the call was sent
 * does not change this fact.
 */
export function restored(
  redemption: Redemption,
  context: TransitionContext,
  change: Partial<Redemption> = {},
): Decision {
  if (!mayRestore({ ...redemption, ...change, lostVoucherUntilSeconds: null })) {
    return refuse('not-restorable');
  }
  return confirmed(redemption, context, {
    reason: redemption.revertReason,
    ...change,
    state: 'reverted',
    resume: null,
    revertedAtMs: context.nowMs,
  });
}

/** Rule H: a final state with one confirmation, where the partner has the endpoint for it. */
export function confirmed(
  redemption: Redemption,
  context: TransitionContext,
  change: Partial<Redemption>,
): Moved {
  const moved = move(redemption, context, { ...change, openCall: null, nextActionAtMs: null });
  if (!context.policy.confirms) return moved;
  return { ...moved, command: { kind: 'confirm', payload: confirmationPayload(moved.next) } };
}

/** Stops the automation until an operator's command. */
export function holdForAttention(
  redemption: Redemption,
  context: TransitionContext,
  { reason, resume }: { readonly reason: RedemptionReason; readonly resume: ResumableState },
  change: Partial<Redemption> = {},
): Moved {
  return move(redemption, context, {
    ...change,
    state: 'attention',
    reason,
    resume,
    openCall: null,
    nextActionAtMs: null,
  });
}
