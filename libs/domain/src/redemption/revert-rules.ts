/**
 * Gives the points back, or finds out that none were deducted (rules E, F and I). The results of calls are those of the
 * open call.
 */
import {
  call,
  type Decision,
  fail,
  holdForAttention,
  move,
  refuse,
  restored,
  type Rule,
  type TransitionContext,
} from './decision.js';
import { freshUntilMs, provesNeverDeducted, provesNeverPaid, revertTarget } from './guards.js';
import { type RevertBody } from './partner-call.js';
import {
  type Redemption,
  type RedemptionReason,
  type RevertReason,
  type RevertTarget,
} from './redemption.js';
import { mayAttempt, nextAttemptAtMs, REVERT_SCHEDULE, unsentWaitMs } from './schedule.js';

/** How long a partner may fail to find a deduction that it has confirmed, in milliseconds. */
export const NOT_FOUND_PATIENCE_MS = 24 * 3_600_000;

/** `revertReason` as partners receive it; the partner interface lists the typical values. */
const REVERT_TEXTS: Readonly<Record<RevertReason, string>> = {
  'user-cancelled': 'User cancelled',
  'operator-cancelled': 'Cancelled by the operator',
  'system-cancelled': 'System error during processing',
  'deduction-unknown': 'System error during processing: no valid answer to the deduction',
  'payout-unavailable': 'System error during processing: no payout was possible',
  'claim-timeout': 'Timeout: the redemption was not claimed',
};

/**
 * Whether a revert that the partner's circuit breaker would hold back may be postponed without a row of a call: no call
 * is open, a first revert was made, and the time for reverts is not over.
 */
export function mayAwaitPartner({ openCall, firstRevertAtMs }: Redemption, nowMs: number): boolean {
  if (openCall !== null || firstRevertAtMs === null) return false;
  return mayAttempt(REVERT_SCHEDULE, { attempts: 0, firstAttemptAtMs: firstRevertAtMs, nowMs });
}

export const revertNow: Rule<'call-due'> = (redemption, { requestId, neverPaid }, context) => {
  if (redemption.openCall !== null) return refuse('call-open');
  const { plan, deadEvidence, paidEvidence } = redemption;
  if (paidEvidence !== null || (plan !== null && deadEvidence === null)) {
    return refuse('not-restorable');
  }
  if (!provesNeverPaid(redemption, neverPaid)) return refuse('vault-not-asked');
  const { firstRevertAtMs, attempts } = redemption;
  if (!mayAttempt(REVERT_SCHEDULE, attemptsOf(redemption, context)))
    return hold(redemption, context, 'revert-exhausted');
  const target = revertTarget(redemption, context.policy);
  if (target === undefined) return hold(redemption, context, 'deduction-unresolved');
  const openCall = { step: 'revert', requestId, startedAtMs: context.nowMs, target } as const;
  const request = { step: 'revert', body: bodyOf(redemption, target) } as const;
  return call(
    redemption,
    context,
    { openCall, request },
    {
      attempts: { ...attempts, revert: attempts.revert + 1 },
      firstRevertAtMs: firstRevertAtMs ?? context.nowMs,
    },
  );
};

function bodyOf(redemption: Redemption, target: RevertTarget): RevertBody {
  return {
    address: redemption.wallet,
    deductPoints: Number(redemption.points),
    svcRedemptionId: redemption.id,
    ...(target.by === 'redemption' ? {} : { partnerTransactionId: target.transactionId }),
    revertReason: REVERT_TEXTS[redemption.revertReason ?? 'system-cancelled'],
  };
}

export const revertConfirmed: Rule<'revert-confirmed'> = (redemption, event, context) =>
  restored(redemption, context, {
    partnerTransactionId: redemption.partnerTransactionId ?? event.partnerTransactionId,
    partnerRevertId: event.partnerRevertId,
  });

export const alreadyReverted: Rule<'revert-already'> = (redemption, _event, context) =>
  restored(redemption, context);

export const amountDisputed: Rule<'revert-amount-disputed'> = (redemption, _event, context) =>
  hold(redemption, context, 'amount-disputed');

/**
 * No byte of the call was sent, so it does not count as an attempt of the schedule. It is tried again soon, for as
 * long as reverts are tried.
 */
export const revertNotSent: Rule<'revert-not-sent'> = (redemption, event, context) => {
  const { attempts } = redemption;
  const change = { attempts: { ...attempts, revert: attempts.revert - 1 } };
  const { firstAttemptAtMs } = attemptsOf(redemption, context);
  const { nowMs, jitter } = context;
  const { retryAfterSeconds } = event;
  const atMs = nowMs + unsentWaitMs({ firstAttemptAtMs, nowMs, jitter, retryAfterSeconds });
  return mayAttempt(REVERT_SCHEDULE, { attempts: 0, firstAttemptAtMs, nowMs: atMs })
    ? move(redemption, context, { ...change, openCall: null, nextActionAtMs: atMs })
    : hold(redemption, context, 'revert-exhausted', change);
};

export const revertUnknown: Rule<'revert-unknown'> = (redemption, event, context) =>
  revertLater(redemption, context, event);

export const revertNotFound: Rule<'revert-not-found'> = (redemption, event, context) => {
  const { openCall, partnerTransactionId } = redemption;
  if (openCall === null) return refuse('stale-call');
  if (partnerTransactionId !== null) return pairNotFound(redemption, event, context);
  const { nowMs, policy } = context;
  const freshMs = freshUntilMs(redemption);
  if (openCall.startedAtMs <= freshMs) {
    // A deduct call may still arrive, so a deduction that is missing now may exist later.
    const { retryAfterSeconds } = event;
    return revertLater(redemption, context, { notBeforeMs: freshMs + 1, retryAfterSeconds });
  }
  if (provesNeverDeducted(redemption, openCall, policy)) {
    return fail(redemption, context, 'never-deducted', { unprovenAttempts: 0, exposure: 'none' });
  }
  const change: Partial<Redemption> =
    openCall.target?.by === 'candidate'
      ? { candidateTransactionIds: redemption.candidateTransactionIds.slice(1) }
      : { redemptionIdRefuted: true };
  return revertTarget({ ...redemption, ...change }, policy) === undefined
    ? hold(redemption, context, 'deduction-unresolved', change)
    : move(redemption, context, { ...change, openCall: null, nextActionAtMs: nowMs });
};

/**
 * The partner does not find a deduction that it has confirmed. For 24 hours the reverts name the transaction id and the
 * redemption id alone in turn.
 */
const pairNotFound: Rule<'revert-not-found'> = (redemption, event, context) => {
  const { nowMs, policy } = context;
  const firstNotFoundAtMs = redemption.firstNotFoundAtMs ?? nowMs;
  const redemptionIdRefuted = redemption.openCall?.target?.by === 'redemption';
  const change = { firstNotFoundAtMs, redemptionIdRefuted };
  if (nowMs - firstNotFoundAtMs >= NOT_FOUND_PATIENCE_MS) {
    return hold(redemption, context, 'transaction-not-found', change);
  }
  const { retryAfterSeconds } = event;
  return revertTarget({ ...redemption, ...change }, policy)?.by === 'redemption'
    ? move(redemption, context, { ...change, openCall: null, nextActionAtMs: nowMs })
    : revertLater(redemption, context, { change, retryAfterSeconds });
};

interface Later {
  readonly change?: Partial<Redemption>;
  readonly notBeforeMs?: number;
  readonly retryAfterSeconds?: number | undefined;
}

function revertLater(redemption: Redemption, context: TransitionContext, later: Later): Decision {
  const { change = {}, notBeforeMs = 0, retryAfterSeconds } = later;
  const { jitter } = context;
  const so = { ...attemptsOf(redemption, context), jitter, retryAfterSeconds };
  const atMs = nextAttemptAtMs(REVERT_SCHEDULE, so);
  if (atMs === undefined) return hold(redemption, context, 'revert-exhausted', change);
  const nextActionAtMs = Math.max(atMs, notBeforeMs);
  return move(redemption, context, { ...change, openCall: null, nextActionAtMs });
}

function hold(
  redemption: Redemption,
  context: TransitionContext,
  reason: RedemptionReason,
  change: Partial<Redemption> = {},
): Decision {
  return holdForAttention(redemption, context, { reason, resume: 'reverting' }, change);
}

function attemptsOf({ attempts, firstRevertAtMs }: Redemption, { nowMs }: TransitionContext) {
  return { attempts: attempts.revert, firstAttemptAtMs: firstRevertAtMs ?? nowMs, nowMs };
}
