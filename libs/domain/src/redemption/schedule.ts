/** When to try again (rules H and I). Pure: the chance of the jitter is handed in, as a number in [0, 1). */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface RetrySchedule {
  /** Waits after the first, second, … attempt. */
  readonly stepsMs: readonly number[];
  /** The wait after all further attempts; absent where the steps are all there is. */
  readonly thenMs?: number;
  /** No attempt begins later than this after the first; absent where the steps bound it. */
  readonly withinMs?: number;
}

/** Rule I: up to 5 attempts in 5 minutes. */
export const DEDUCT_SCHEDULE: RetrySchedule = {
  stepsMs: [5 * SECOND, 15 * SECOND, 40 * SECOND, 80 * SECOND],
  withinMs: 5 * MINUTE,
};

/** Rule I: then every 6 h for 7 days. */
export const REVERT_SCHEDULE: RetrySchedule = {
  stepsMs: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 1 * HOUR, 2 * HOUR],
  thenMs: 6 * HOUR,
  withinMs: 7 * DAY,
};

/** Rule H: no confirmation is sent later than this after the first was to be. */
export const CONFIRM_WITHIN_MS = 75 * HOUR;

/** Rule H: 75 h in all. */
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

/** Making and committing a payout plan is our own work: half an hour of trouble, then the points go back. */
export const PAYOUT_SCHEDULE: RetrySchedule = {
  stepsMs: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE],
  thenMs: 10 * MINUTE,
  withinMs: 30 * MINUTE,
};

/** A wait is the step's, up to this share longer. */
const JITTER = 0.2;

export interface AttemptsSoFar {
  /** At least 1. */
  readonly attempts: number;
  /** When the first of them began. */
  readonly firstAttemptAtMs: number;
  readonly nowMs: number;
  /** In [0, 1). */
  readonly jitter: number;
  /** The `Retry-After` of the last answer; honoured up to twice the step. */
  readonly retryAfterSeconds?: number | undefined;
}

/** When the next attempt is due, in whole milliseconds; undefined where the attempts are spent. */
export function nextAttemptAtMs(schedule: RetrySchedule, so: AttemptsSoFar): number | undefined {
  const step = schedule.stepsMs[so.attempts - 1] ?? schedule.thenMs;
  if (step === undefined) return undefined;
  const asked = Number.isFinite(so.retryAfterSeconds) ? (so.retryAfterSeconds ?? 0) * SECOND : 0;
  const wait = Math.max(step * (1 + JITTER * so.jitter), Math.min(asked, 2 * step));
  const atMs = so.nowMs + Math.floor(wait);
  return mayAttempt(schedule, { ...so, nowMs: atMs }) ? atMs : undefined;
}

const LEAST_UNSENT_MS = 5 * SECOND;
const MOST_UNSENT_MS = 30 * MINUTE;

/**
 * The wait after a call of which no byte left, in whole milliseconds: a tenth of the time that it has been tried for, so that a short
 * outage costs seconds and a long one few calls; or until the partner's circuit lets a call through, where that is what held it back.
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

/** Whether another attempt may begin now: a worker may come late to one that was due. */
export function mayAttempt(
  { stepsMs, thenMs, withinMs }: RetrySchedule,
  so: Omit<AttemptsSoFar, 'jitter'>,
): boolean {
  if (thenMs === undefined && so.attempts > stepsMs.length) return false;
  return withinMs === undefined || so.nowMs <= so.firstAttemptAtMs + withinMs;
}
