/** What a rule of the transition table is, and the moves that several rules share. */
import { confirmationPayload } from './confirmation.js';
import { mayRestore } from './guards.js';
import { type PartnerPolicy } from './partner-policy.js';
import { type Refusal, type RefusalCode, type RedemptionEffect } from './redemption-effect.js';
import { type EventOf, type RedemptionEventType } from './redemption-event.js';
import {
  type OpenCall,
  type Redemption,
  type RedemptionReason,
  type ResumableState,
  type RevertReason,
} from './redemption.js';

export interface TransitionContext {
  readonly nowMs: number;
  /** In [0, 1), for the waits. */
  readonly jitter: number;
  /** Of the redemption's partner. */
  readonly policy: PartnerPolicy;
}

export interface Moved {
  readonly kind: 'moved';
  readonly next: Redemption;
  readonly effects: readonly RedemptionEffect[];
}

export type Decision = Moved | Refusal;

export type Rule<T extends RedemptionEventType> = (
  redemption: Redemption,
  event: EventOf<T>,
  context: TransitionContext,
) => Decision;

const MESSAGES: Readonly<Record<RefusalCode, string>> = {
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
};

export function refuse(code: RefusalCode): Refusal {
  return { kind: 'refused', code, message: MESSAGES[code] };
}

export function move(
  redemption: Redemption,
  { nowMs }: TransitionContext,
  change: Partial<Redemption>,
  effects: readonly RedemptionEffect[] = [],
): Moved {
  const entered = change.state !== undefined && change.state !== redemption.state;
  const next = { ...redemption, ...change, version: redemption.version + 1 };
  return { kind: 'moved', next: entered ? { ...next, stateSinceMs: nowMs } : next, effects };
}

/** The open call that a result belongs to, or undefined. */
export function answeredCall(
  { openCall }: Redemption,
  step: OpenCall['step'],
  requestId: string,
): OpenCall | undefined {
  return openCall?.step === step && openCall.requestId === requestId ? openCall : undefined;
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

/** Rule F: the only door to `reverting`. Where no plan is known, the vault is asked behind it, before the first call. */
export function restore(
  redemption: Redemption,
  context: TransitionContext,
  revertReason: RevertReason,
  change: Partial<Redemption> = {},
): Decision {
  if (!mayRestore({ ...redemption, ...change })) return refuse('not-restorable');
  return move(
    redemption,
    context,
    {
      ...change,
      state: 'reverting',
      reason: revertReason,
      revertReason,
      openCall: null,
      nextActionAtMs: context.nowMs,
    },
    [{ kind: 'notify' }],
  );
}

/** The end of `reverting`: the points are back. What is noted of the ledger after the call went out does not change that they are. */
export function restored(
  redemption: Redemption,
  context: TransitionContext,
  change: Partial<Redemption> = {},
): Decision {
  if (!mayRestore({ ...redemption, ...change, lostVoucherUntilSeconds: null })) {
    return refuse('not-restorable');
  }
  return confirmed(
    move(redemption, context, {
      reason: redemption.revertReason,
      ...change,
      state: 'reverted',
      resume: null,
      openCall: null,
      nextActionAtMs: null,
      revertedAtMs: context.nowMs,
    }),
    context,
  );
}

/** Rule H: one confirmation for each end that is confirmed, where the partner has the endpoint. */
export function confirmed(moved: Moved, { policy }: TransitionContext): Moved {
  if (!policy.confirms) return moved;
  const delivery: RedemptionEffect = {
    kind: 'record-delivery',
    payload: confirmationPayload(moved.next),
  };
  return { ...moved, effects: [...moved.effects, delivery, { kind: 'notify' }] };
}

/** Reasons at which two parties' books may disagree. */
const CRITICAL: readonly RedemptionReason[] = [
  'paid-after-dead',
  'claimed-without-plan',
  'transaction-id-reused',
  'amount-disputed',
  'evidence-invalid',
];

/** Stops the automation: nothing moves until an operator's command. */
export function holdForAttention(
  redemption: Redemption,
  context: TransitionContext,
  { reason, resume }: { readonly reason: RedemptionReason; readonly resume: ResumableState },
  change: Partial<Redemption> = {},
): Moved {
  return move(
    redemption,
    context,
    { ...change, state: 'attention', reason, resume, openCall: null, nextActionAtMs: null },
    [{ kind: 'alert', severity: CRITICAL.includes(reason) ? 'critical' : 'warning', code: reason }],
  );
}
