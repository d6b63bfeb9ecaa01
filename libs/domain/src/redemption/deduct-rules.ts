/** From `created` to a proven deduction, to none, or to not knowing (rules A to E). */
import {
  answeredCall,
  type Decision,
  fail,
  holdForAttention,
  move,
  refuse,
  restore,
  type Rule,
  type TransitionContext,
} from './decision.js';
import { nothingUnproven } from './guards.js';
import { isAlerted } from './redemption-event.js';
import { type RedemptionEffect } from './redemption-effect.js';
import { type Redemption, type RedemptionReason } from './redemption.js';
import { isForgetful, resolveForgotten } from './restored-ledger.js';
import { DEDUCT_SCHEDULE, mayAttempt, nextAttemptAtMs } from './schedule.js';
import { type UuidV7, uuidV7Ms } from './uuid-v7.js';

/** More than a partner can honestly produce: five attempts, each with another id. */
const MAX_CANDIDATES = 5;

export const startOrExpire: Rule<'call-due'> = (redemption, { requestId }, context) => {
  if (isForgetful(redemption)) return resolveForgotten(redemption, context, 'deduction-unknown');
  return context.nowMs >= redemption.quoteExpiresAtMs
    ? fail(redemption, context, 'quote-expired')
    : beginDeduct(redemption, requestId, context);
};

export const deductAgain: Rule<'call-due'> = (redemption, { requestId }, context) => {
  if (redemption.openCall !== null) return refuse('call-open');
  if (isForgetful(redemption)) return resolveForgotten(redemption, context, 'deduction-unknown');
  const may = mayAttempt(DEDUCT_SCHEDULE, attemptsOf(redemption, context));
  return may
    ? beginDeduct(redemption, requestId, context)
    : attemptsSpent(redemption, context, 'partner-unreachable');
};

/** Rule A: exposure and the unproven attempt are committed with the call row, before the first byte. */
function beginDeduct(
  redemption: Redemption,
  requestId: UuidV7,
  context: TransitionContext,
): Decision {
  const { nowMs } = context;
  const { wallet, points, id, attempts } = redemption;
  return move(
    redemption,
    context,
    {
      state: 'deducting',
      exposure: 'possible',
      unprovenAttempts: redemption.unprovenAttempts + 1,
      openCall: { step: 'deduct', requestId, startedAtMs: nowMs },
      attempts: { ...attempts, deduct: attempts.deduct + 1 },
      firstDeductAtMs: redemption.firstDeductAtMs ?? nowMs,
      lastDeductAtMs: Math.max(nowMs, uuidV7Ms(requestId)),
      pendingAtMs: redemption.pendingAtMs ?? nowMs,
      nextActionAtMs: nowMs,
    },
    [
      { kind: 'record-call', step: 'deduct', requestId },
      {
        kind: 'call-partner',
        requestId,
        request: {
          step: 'deduct',
          body: { address: wallet, deductPoints: Number(points), svcRedemptionId: id },
        },
      },
    ],
  );
}

/** Rule B: the only door to `deducted`. */
export const deducted: Rule<'deduct-confirmed'> = (redemption, event, context) => {
  if (!answeredCall(redemption, 'deduct', event.requestId)) return refuse('stale-call');
  const { nowMs } = context;
  return move(
    redemption,
    context,
    {
      state: 'deducted',
      partnerTransactionId: event.partnerTransactionId,
      openCall: null,
      deductedAtMs: nowMs,
      nextActionAtMs: nowMs,
    },
    [{ kind: 'plan-payout' }, { kind: 'notify' }],
  );
};

export const idReused: Rule<'deduct-id-reused'> = (redemption, { requestId }, context) =>
  answeredCall(redemption, 'deduct', requestId)
    ? holdForAttention(
        redemption,
        context,
        { reason: 'transaction-id-reused', resume: 'reverting' },
        { revertReason: 'deduction-unknown' },
      )
    : refuse('stale-call');

/** What the service has not written is never deducted, planned or paid: a person looks at it. */
export const rejectEvidence: Rule<'evidence-rejected'> = (redemption, _event, context) =>
  holdForAttention(
    redemption,
    context,
    { reason: 'evidence-invalid', resume: 'reverting' },
    {
      revertReason: redemption.revertReason ?? 'deduction-unknown',
      pendingAtMs: redemption.pendingAtMs ?? context.nowMs,
    },
  );

/** A definite refusal clears its own attempt; it ends the redemption only where no other may have deducted (rule D). */
export const deductRefused: Rule<'deduct-refused'> = (redemption, event, context) => {
  if (!answeredCall(redemption, 'deduct', event.requestId)) return refuse('stale-call');
  const cleared = clearAttempt(redemption);
  const reason = event.code === 'ERR-USER-NOT-FOUND' ? 'user-not-found' : 'insufficient-points';
  return nothingUnproven({ ...redemption, ...cleared })
    ? fail(redemption, context, reason, cleared)
    : deductLater(redemption, context, { change: cleared, ...waitOf(event) });
};

export const deductNotSent: Rule<'deduct-not-sent'> = (redemption, event, context) =>
  answeredCall(redemption, 'deduct', event.requestId)
    ? deductLater(redemption, context, {
        change: clearAttempt(redemption),
        ...waitOf(event),
      })
    : refuse('stale-call');

export const deductUnknown: Rule<'deduct-unknown'> = (redemption, event, context) => {
  if (!answeredCall(redemption, 'deduct', event.requestId)) return refuse('stale-call');
  const effects: RedemptionEffect[] = isAlerted('deduct', event.reason)
    ? [{ kind: 'alert', severity: 'warning', code: event.reason, step: 'deduct' }]
    : [];
  return deductLater(redemption, context, {
    change: withCandidate(redemption, event.candidateTransactionId),
    effects,
    ...waitOf(event),
  });
};

/** A deduction exists, or existed: asking again says the same. On to rule E's next way. */
export const deductDuplicate: Rule<'deduct-duplicate'> = (redemption, event, context) =>
  answeredCall(redemption, 'deduct', event.requestId)
    ? restore(
        redemption,
        context,
        'deduction-unknown',
        withCandidate(redemption, event.candidateTransactionId),
      )
    : refuse('stale-call');

interface Later {
  readonly change: Partial<Redemption>;
  readonly effects?: readonly RedemptionEffect[];
  readonly retryAfterSeconds?: number;
}

function deductLater(redemption: Redemption, context: TransitionContext, later: Later): Decision {
  const { change, effects = [], retryAfterSeconds } = later;
  const nextActionAtMs = nextAttemptAtMs(DEDUCT_SCHEDULE, {
    ...attemptsOf(redemption, context),
    jitter: context.jitter,
    retryAfterSeconds,
  });
  const decision =
    nextActionAtMs === undefined
      ? attemptsSpent(redemption, context, 'partner-unreachable', change)
      : move(redemption, context, { ...change, openCall: null, nextActionAtMs });
  return decision.kind === 'refused'
    ? decision
    : { ...decision, effects: [...effects, ...decision.effects] };
}

/** Rules D and E: nothing unproven means nothing deducted; otherwise it is resolved by reverting, never by paying. */
function attemptsSpent(
  redemption: Redemption,
  context: TransitionContext,
  reason: RedemptionReason,
  change: Partial<Redemption> = {},
): Decision {
  return nothingUnproven({ ...redemption, ...change })
    ? fail(redemption, context, reason, change)
    : restore(redemption, context, 'deduction-unknown', change);
}

/** The call under way did nothing, by proof; in a restored ledger, one that is forgotten may have. */
function clearAttempt(redemption: Redemption): Pick<Redemption, 'unprovenAttempts' | 'exposure'> {
  const unprovenAttempts = redemption.unprovenAttempts - 1;
  const isClear = nothingUnproven({ ...redemption, unprovenAttempts });
  return { unprovenAttempts, exposure: isClear ? 'none' : 'possible' };
}

function withCandidate(redemption: Redemption, candidate: string | undefined): Partial<Redemption> {
  const known = redemption.candidateTransactionIds;
  const isNew =
    candidate !== undefined && !known.includes(candidate) && known.length < MAX_CANDIDATES;
  return isNew ? { candidateTransactionIds: [...known, candidate] } : {};
}

function attemptsOf({ attempts, firstDeductAtMs }: Redemption, { nowMs }: TransitionContext) {
  return { attempts: attempts.deduct, firstAttemptAtMs: firstDeductAtMs ?? nowMs, nowMs };
}

function waitOf({ retryAfterSeconds }: { readonly retryAfterSeconds?: number }) {
  return retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
}
