/**
 * From `created` to a proven deduction, to none, or to an unknown one (rules A to E). The results of calls are those of
 * the open call.
 */
import {
  call,
  type Decision,
  fail,
  holdForAttention,
  move,
  refuse,
  revertAfterRestore,
  restore,
  type Rule,
  type TransitionContext,
} from './decision.js';
import { isLedgerRestored, nothingUnproven } from './guards.js';
import { type DeductRefusalCode } from './redemption-event.js';
import { type Redemption, type RedemptionReason } from './redemption.js';
import { balanceWaitMs, DEDUCT_SCHEDULE, mayAttempt, nextAttemptAtMs } from './schedule.js';
import { type UuidV7, uuidV7Ms } from './uuid-v7.js';

/** Candidate ids that are kept at most: an honest partner gives one in each of the five attempts. */
const MAX_CANDIDATES = 5;

const REFUSAL_REASONS: Readonly<Record<DeductRefusalCode, RedemptionReason>> = {
  'ERR-INSUFFICIENT-POINTS': 'insufficient-points',
  'ERR-USER-NOT-FOUND': 'user-not-found',
};

/**
 * Whether the partner's balance has to be read before the first deduct call. While no call was made, too few points end
 * the redemption with nothing unproven, whether the partner signs its refusals or not (rule D).
 */
export function needsBalance(redemption: Redemption, nowMs: number): boolean {
  const { state, quoteExpiresAtMs } = redemption;
  return state === 'created' && !isLedgerRestored(redemption) && nowMs < quoteExpiresAtMs;
}

export const balanceRefused: Rule<'balance-refused'> = (redemption, { code }, context) =>
  isLedgerRestored(redemption)
    ? revertAfterRestore(redemption, context, 'deduction-unknown')
    : fail(redemption, context, REFUSAL_REASONS[code]);

/** Nothing was sent that deducts, so the redemption may wait, and may fail before its quote expires. */
export const balanceUnknown: Rule<'balance-unknown'> = (redemption, event, context) => {
  if (isLedgerRestored(redemption))
    return revertAfterRestore(redemption, context, 'deduction-unknown');
  const { nowMs, jitter } = context;
  const { initialAtMs: firstAttemptAtMs, quoteExpiresAtMs } = redemption;
  const { retryAfterSeconds } = event;
  const atMs = nowMs + balanceWaitMs({ firstAttemptAtMs, nowMs, jitter, retryAfterSeconds });
  return atMs < quoteExpiresAtMs
    ? move(redemption, context, { nextActionAtMs: atMs })
    : fail(redemption, context, 'partner-unreachable');
};

export const startOrExpire: Rule<'call-due'> = (redemption, { requestId }, context) => {
  if (isLedgerRestored(redemption))
    return revertAfterRestore(redemption, context, 'deduction-unknown');
  return context.nowMs >= redemption.quoteExpiresAtMs
    ? fail(redemption, context, 'quote-expired')
    : beginDeduct(redemption, requestId, context);
};

export const deductAgain: Rule<'call-due'> = (redemption, { requestId }, context) => {
  if (redemption.openCall !== null) return refuse('call-open');
  if (isLedgerRestored(redemption))
    return revertAfterRestore(redemption, context, 'deduction-unknown');
  return mayAttempt(DEDUCT_SCHEDULE, attemptsOf(redemption, context))
    ? beginDeduct(redemption, requestId, context)
    : attemptsSpent(redemption, context);
};

/**
 * Rule A: `exposure` and the unproven attempt are committed with the row of the call, before the first byte is sent.
 */
function beginDeduct(redemption: Redemption, requestId: UuidV7, context: TransitionContext) {
  const { nowMs } = context;
  const { wallet: address, points, id: svcRedemptionId, attempts } = redemption;
  const openCall = { step: 'deduct', requestId, startedAtMs: nowMs } as const;
  const body = { address, deductPoints: Number(points), svcRedemptionId };
  return call(
    redemption,
    context,
    { openCall, request: { step: 'deduct', body } },
    {
      state: 'deducting',
      exposure: 'possible',
      unprovenAttempts: redemption.unprovenAttempts + 1,
      attempts: { ...attempts, deduct: attempts.deduct + 1 },
      firstDeductAtMs: redemption.firstDeductAtMs ?? nowMs,
      lastDeductAtMs: Math.max(nowMs, uuidV7Ms(requestId)),
      pendingAtMs: redemption.pendingAtMs ?? nowMs,
    },
  );
}

/** Rule B: the only way into `deducted`. */
export const deducted: Rule<'deduct-confirmed'> = (redemption, event, context) =>
  move(redemption, context, {
    state: 'deducted',
    partnerTransactionId: event.partnerTransactionId,
    openCall: null,
    deductedAtMs: context.nowMs,
    nextActionAtMs: context.nowMs,
  });

export const idReused: Rule<'deduct-id-reused'> = (redemption, _event, context) =>
  holdForAttention(
    redemption,
    context,
    { reason: 'transaction-id-reused', resume: 'reverting' },
    { revertReason: 'deduction-unknown' },
  );

/** A row that the service did not write is never deducted, planned or paid. It waits for an operator. */
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

/**
 * A definite refusal clears its own attempt. It ends the redemption only where no other attempt may have deducted (rule
 * D).
 */
export const deductRefused: Rule<'deduct-refused'> = (redemption, event, context) => {
  const cleared = clearAttempt(redemption);
  return nothingUnproven({ ...redemption, ...cleared })
    ? fail(redemption, context, REFUSAL_REASONS[event.code], cleared)
    : deductLater(redemption, context, cleared, event.retryAfterSeconds);
};

export const deductNotSent: Rule<'deduct-not-sent'> = (redemption, event, context) =>
  deductLater(redemption, context, clearAttempt(redemption), event.retryAfterSeconds);

export const deductUnknown: Rule<'deduct-unknown'> = (redemption, event, context) => {
  const { candidateTransactionId, retryAfterSeconds } = event;
  const change = withCandidate(redemption, candidateTransactionId);
  return deductLater(redemption, context, change, retryAfterSeconds);
};

/**
 * A deduction exists, or existed, and another deduct call would get the same answer. The next option of rule E follows.
 */
export const deductDuplicate: Rule<'deduct-duplicate'> = (redemption, _event, context) =>
  restore(redemption, context, 'deduction-unknown');

function deductLater(
  redemption: Redemption,
  context: TransitionContext,
  change: Partial<Redemption>,
  retryAfterSeconds: number | undefined,
): Decision {
  const { jitter } = context;
  const so = { ...attemptsOf(redemption, context), jitter, retryAfterSeconds };
  const nextActionAtMs = nextAttemptAtMs(DEDUCT_SCHEDULE, so);
  return nextActionAtMs === undefined
    ? attemptsSpent(redemption, context, change)
    : move(redemption, context, { ...change, openCall: null, nextActionAtMs });
}

/**
 * Rules D and E: where no attempt is unproven, nothing was deducted. Otherwise a revert resolves the deduction, which
 * is never paid.
 */
function attemptsSpent(
  redemption: Redemption,
  context: TransitionContext,
  change: Partial<Redemption> = {},
): Decision {
  return nothingUnproven({ ...redemption, ...change })
    ? fail(redemption, context, 'partner-unreachable', change)
    : restore(redemption, context, 'deduction-unknown', change);
}

/**
 * The open call is proven to have had no effect. In a restored ledger, a call that the ledger lacks may have deducted.
 */
function clearAttempt(redemption: Redemption): Partial<Redemption> {
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
