/** Giving the points back, or finding out that none were taken (rules E, F and I). */
import {
  answeredCall,
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
import { type RedemptionEffect, type RevertBody } from './redemption-effect.js';
import { isAlerted } from './redemption-event.js';
import {
  type OpenCall,
  type Redemption,
  type RedemptionReason,
  type RevertReason,
  type RevertTarget,
} from './redemption.js';
import { mayAttempt, nextAttemptAtMs, REVERT_SCHEDULE, unsentWaitMs } from './schedule.js';

/** How long a partner may fail to find a deduction that it has confirmed. */
export const NOT_FOUND_PATIENCE_MS = 24 * 3_600_000;

/** `revertReason` as partners read it; the interface gives the typical values. */
const REVERT_TEXTS: Readonly<Record<RevertReason, string>> = {
  'user-cancelled': 'User cancelled',
  'operator-cancelled': 'Cancelled by the operator',
  'system-cancelled': 'System error during processing',
  'deduction-unknown': 'System error during processing: no valid answer to the deduction',
  'payout-unavailable': 'System error during processing: no payout was possible',
  'claim-timeout': 'Timeout: the redemption was not claimed',
};

/** Whether calls that would be held back may wait without a trace: one was begun, and the time for reverts is not over. */
export function mayAwaitPartner(
  { openCall, firstRevertAtMs }: Pick<Redemption, 'openCall' | 'firstRevertAtMs'>,
  nowMs: number,
): boolean {
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
  const { firstRevertAtMs } = redemption;
  if (firstRevertAtMs !== null && !mayAttempt(REVERT_SCHEDULE, so(redemption, context))) {
    return hold(redemption, context, 'revert-exhausted');
  }
  const target = revertTarget(redemption, context.policy);
  if (target === undefined) return hold(redemption, context, 'deduction-unresolved');
  const { nowMs } = context;
  const { attempts } = redemption;
  return move(
    redemption,
    context,
    {
      openCall: { step: 'revert', requestId, startedAtMs: nowMs, target },
      attempts: { ...attempts, revert: attempts.revert + 1 },
      firstRevertAtMs: firstRevertAtMs ?? nowMs,
      nextActionAtMs: nowMs,
    },
    [
      { kind: 'record-call', step: 'revert', requestId },
      {
        kind: 'call-partner',
        requestId,
        request: { step: 'revert', body: bodyOf(redemption, target) },
      },
    ],
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
  answeredCall(redemption, 'revert', event.requestId)
    ? restored(redemption, context, {
        partnerTransactionId: redemption.partnerTransactionId ?? event.partnerTransactionId,
        partnerRevertId: event.partnerRevertId,
      })
    : refuse('stale-call');

export const alreadyReverted: Rule<'revert-already'> = (redemption, { requestId }, context) =>
  answeredCall(redemption, 'revert', requestId)
    ? restored(redemption, context)
    : refuse('stale-call');

export const amountDisputed: Rule<'revert-amount-disputed'> = (redemption, event, context) =>
  answeredCall(redemption, 'revert', event.requestId)
    ? hold(redemption, context, 'amount-disputed')
    : refuse('stale-call');

/** Its proof is that no byte left, so that it is no attempt of the schedule: asked again soon, for as long as reverts are tried. */
export const revertNotSent: Rule<'revert-not-sent'> = (redemption, event, context) => {
  if (!answeredCall(redemption, 'revert', event.requestId)) return refuse('stale-call');
  const { attempts } = redemption;
  const change = { attempts: { ...attempts, revert: attempts.revert - 1 } };
  const { firstAttemptAtMs } = so(redemption, context);
  const { nowMs, jitter } = context;
  const { retryAfterSeconds } = event;
  const atMs = nowMs + unsentWaitMs({ firstAttemptAtMs, nowMs, jitter, retryAfterSeconds });
  return mayAttempt(REVERT_SCHEDULE, { attempts: 0, firstAttemptAtMs, nowMs: atMs })
    ? move(redemption, context, { ...change, openCall: null, nextActionAtMs: atMs })
    : hold(redemption, context, 'revert-exhausted', change);
};

export const revertUnknown: Rule<'revert-unknown'> = (redemption, event, context) => {
  if (!answeredCall(redemption, 'revert', event.requestId)) return refuse('stale-call');
  const effects: RedemptionEffect[] = isAlerted('revert', event.reason)
    ? [{ kind: 'alert', severity: 'warning', code: event.reason, step: 'revert' }]
    : [];
  const decision = revertLater(redemption, context, {
    retryAfterSeconds: event.retryAfterSeconds,
  });
  return decision.kind === 'refused'
    ? decision
    : { ...decision, effects: [...effects, ...decision.effects] };
};

export const revertNotFound: Rule<'revert-not-found'> = (redemption, event, context) => {
  const call = answeredCall(redemption, 'revert', event.requestId);
  if (!call) return refuse('stale-call');
  const { nowMs, policy } = context;
  const { retryAfterSeconds } = event;
  if (redemption.partnerTransactionId !== null) {
    return pairNotFound(redemption, context, { call, retryAfterSeconds });
  }
  const freshMs = freshUntilMs(redemption);
  if (call.startedAtMs <= freshMs) {
    // A deduct call may still arrive: what is not there now may be there later.
    return revertLater(redemption, context, { notBeforeMs: freshMs + 1, retryAfterSeconds });
  }
  if (provesNeverDeducted(redemption, { call, signed: event.signed }, policy)) {
    return fail(redemption, context, 'never-deducted', { unprovenAttempts: 0, exposure: 'none' });
  }
  const change: Partial<Redemption> =
    call.target?.by === 'candidate'
      ? { candidateTransactionIds: redemption.candidateTransactionIds.slice(1) }
      : { redemptionIdRefuted: true };
  return revertTarget({ ...redemption, ...change }, policy) === undefined
    ? hold(redemption, context, 'deduction-unresolved', change)
    : move(redemption, context, { ...change, openCall: null, nextActionAtMs: nowMs }, [
        { kind: 'notify' },
      ]);
};

/** A deduction that the partner has confirmed. Its id and the redemption alone are asked for in turn, for a day. */
function pairNotFound(
  redemption: Redemption,
  context: TransitionContext,
  { call, retryAfterSeconds }: Pick<Later, 'retryAfterSeconds'> & { readonly call: OpenCall },
): Decision {
  const { nowMs, policy } = context;
  const firstNotFoundAtMs = redemption.firstNotFoundAtMs ?? nowMs;
  const isById = call.target?.by === 'redemption';
  const change = { firstNotFoundAtMs, redemptionIdRefuted: isById };
  if (nowMs - firstNotFoundAtMs >= NOT_FOUND_PATIENCE_MS) {
    return hold(redemption, context, 'transaction-not-found', change);
  }
  const next = revertTarget({ ...redemption, ...change }, policy);
  return next?.by === 'redemption'
    ? move(redemption, context, { ...change, openCall: null, nextActionAtMs: nowMs }, [
        { kind: 'notify' },
      ])
    : revertLater(redemption, context, { change, retryAfterSeconds });
}

interface Later {
  readonly change?: Partial<Redemption>;
  readonly notBeforeMs?: number;
  readonly retryAfterSeconds?: number | undefined;
}

function revertLater(redemption: Redemption, context: TransitionContext, later: Later): Decision {
  const { change = {}, notBeforeMs = 0, retryAfterSeconds } = later;
  const atMs = nextAttemptAtMs(REVERT_SCHEDULE, {
    ...so(redemption, context),
    jitter: context.jitter,
    retryAfterSeconds,
  });
  return atMs === undefined
    ? hold(redemption, context, 'revert-exhausted', change)
    : move(redemption, context, {
        ...change,
        openCall: null,
        nextActionAtMs: Math.max(atMs, notBeforeMs),
      });
}

function hold(
  redemption: Redemption,
  context: TransitionContext,
  reason: RedemptionReason,
  change: Partial<Redemption> = {},
): Decision {
  return holdForAttention(redemption, context, { reason, resume: 'reverting' }, change);
}

function so({ attempts, firstRevertAtMs }: Redemption, { nowMs }: TransitionContext) {
  return { attempts: attempts.revert, firstAttemptAtMs: firstRevertAtMs ?? nowMs, nowMs };
}
