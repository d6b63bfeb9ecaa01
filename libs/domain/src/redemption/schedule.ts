/**
 * Retry schedules (rules H and I). The functions are pure: the caller passes the random number for the jitter, from 0
 * to below 1.
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface RetrySchedule {
  /** Waits after the first, second, … attempt. */
  readonly stepsMs: readonly number[];
  /** Wait after each further attempt; absent where no attempt follows the steps. */
  readonly thenMs?: number;
  /** Longest time from the first attempt to the start of another one; absent where the steps bound it. */
  readonly withinMs?: number;
}

/** Rule I: up to 5 attempts in 5 minutes. */
export const DEDUCT_SCHEDULE: RetrySchedule = {
  stepsMs: [5 * SECOND, 15 * SECOND, 40 * SECOND, 80 * SECOND],
  withinMs: 5 * MINUTE,
};

/** Rule I: the steps, and every 6 h after them, for 7 days in all. */
export const REVERT_SCHEDULE: RetrySchedule = {
  stepsMs: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 1 * HOUR, 2 * HOUR],
  thenMs: 6 * HOUR,
  withinMs: 7 * DAY,
};

/** Rule H: longest time from the first attempt to the start of the last one, in milliseconds. */
export const CONFIRM_WITHIN_MS = 75 * HOUR;

/** Rule H: ten attempts over 75 h 35 min, the last one brought forward to CONFIRM_WITHIN_MS. */
export const CONFIRM_SCHEDULE: RetrySchedule = {
  stepsMs: [
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
  ],
};

/**
 * Making and committing a payout plan is our own work. It is tried for half an hour, after which the points are given
 * back.
 */
export const PAYOUT_SCHEDULE: RetrySchedule = {
  stepsMs: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE],
  thenMs: 10 * MINUTE,
  withinMs: 30 * MINUTE,
};

/** Largest extension of a wait, as a share of its step. */
const JITTER = 0.2;

export interface AttemptsSoFar {
  readonly attempts: number;
  readonly firstAttemptAtMs: number;
  readonly nowMs: number;
  /** Random number in [0, 1). */
  readonly jitter: number;
  /** `Retry-After` of the last answer; honoured up to twice the step. */
  readonly retryAfterSeconds?: number | undefined;
}

/** When the next attempt is due, in whole Unix milliseconds; undefined where no attempt is left. */
export function nextAttemptAtMs(schedule: RetrySchedule, so: AttemptsSoFar): number | undefined {
  const step = schedule.stepsMs[so.attempts - 1] ?? schedule.thenMs;
  if (step === undefined) return undefined;
  const wait = Math.max(step * (1 + JITTER * so.jitter), askedMs(step, so));
  const atMs = so.nowMs + Math.floor(wait);
  return mayAttempt(schedule, { ...so, nowMs: atMs }) ? atMs : undefined;
}

/** The wait that the last answer asked for, up to twice the step. An answer need not be signed for this. */
function askedMs(
  stepMs: number,
  { retryAfterSeconds = 0 }: Pick<AttemptsSoFar, 'retryAfterSeconds'>,
): number {
  return Number.isFinite(retryAfterSeconds) ? Math.min(retryAfterSeconds * SECOND, 2 * stepMs) : 0;
}

const LEAST_UNSENT_MS = 5 * SECOND;
const MOST_UNSENT_MS = 30 * MINUTE;

/**
 * The wait after a call of which no byte was sent, in whole milliseconds: a tenth of the time since the first attempt,
 * so that a short outage costs seconds and a long outage few calls. Where the partner's circuit breaker held the call
 * back, the wait lasts until the circuit lets a call through.
 */
export function unsentWaitMs({
  firstAttemptAtMs,
  nowMs,
  jitter,
  retryAfterSeconds,
}: Omit<AttemptsSoFar, 'attempts'>): number {
  const wait =
    retryAfterSeconds === undefined ? (nowMs - firstAttemptAtMs) / 10 : retryAfterSeconds * SECOND;
  const bounded = Math.min(MOST_UNSENT_MS, Math.max(LEAST_UNSENT_MS, wait));
  return Math.floor(bounded * (1 + JITTER * jitter));
}

/**
 * The wait after a balance read that told nothing, in whole milliseconds: a tenth of the time since the first attempt,
 * 5 s at least.
 */
export function balanceWaitMs(so: Omit<AttemptsSoFar, 'attempts'>): number {
  const stepMs = unsentWaitMs({ ...so, retryAfterSeconds: undefined });
  return Math.max(stepMs, askedMs(stepMs, so));
}

/** Whether another attempt may begin now. A due attempt that a worker takes up too late may not. */
export function mayAttempt(
  { stepsMs, thenMs, withinMs }: RetrySchedule,
  so: Omit<AttemptsSoFar, 'jitter'>,
): boolean {
  if (thenMs === undefined && so.attempts > stepsMs.length) return false;
  return withinMs === undefined || so.nowMs <= so.firstAttemptAtMs + withinMs;
}
