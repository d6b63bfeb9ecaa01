import { describe, expect, it } from '@jest/globals';
import {
  balanceWaitMs,
  CONFIRM_SCHEDULE,
  DEDUCT_SCHEDULE,
  nextAttemptAtMs,
  PAYOUT_SCHEDULE,
  type RetrySchedule,
  REVERT_SCHEDULE,
  unsentWaitMs,
} from './schedule.js';

const SECOND = 1000;
const HOUR = 3_600_000;

/** The waits between attempts that take no time themselves, until no attempt is left. */
function waits(schedule: RetrySchedule, jitter: number, retryAfterSeconds?: number): number[] {
  const all: number[] = [];
  let nowMs = 0;
  for (let attempts = 1; attempts < 1000; attempts++) {
    const at = nextAttemptAtMs(schedule, {
      attempts,
      firstAttemptAtMs: 0,
      nowMs,
      jitter,
      retryAfterSeconds,
    });
    if (at === undefined) return all;
    all.push(at - nowMs);
    nowMs = at;
  }
  return all;
}

describe('the wait after a call that never left', () => {
  const wait = (triedForMs: number, retryAfterSeconds?: number, jitter = 0): number =>
    unsentWaitMs({ firstAttemptAtMs: 0, nowMs: triedForMs, jitter, retryAfterSeconds });

  it.each([
    ['at once', 0, 5 * SECOND],
    ['after two minutes', 120 * SECOND, 12 * SECOND],
    ['after an hour', HOUR, 360 * SECOND],
    ['after a day', 24 * HOUR, 1800 * SECOND],
  ])('%s is a tenth of the time tried, within bounds', (_, triedForMs, expected) => {
    expect(wait(triedForMs)).toBe(expected);
    expect(wait(triedForMs, undefined, 0.5)).toBe(Math.floor(expected * 1.1));
  });

  it('is that of the circuit where the circuit held it back', () => {
    expect(wait(24 * HOUR, 40)).toBe(40 * SECOND);
    expect(wait(0, 1)).toBe(5 * SECOND);
  });
});

describe('the wait after a balance read that told nothing', () => {
  const wait = (triedForMs: number, retryAfterSeconds?: number): number =>
    balanceWaitMs({ firstAttemptAtMs: 0, nowMs: triedForMs, jitter: 0, retryAfterSeconds });

  it('is a tenth of the time tried, and honours Retry-After up to twice that', () => {
    expect(wait(0)).toBe(5 * SECOND);
    expect(wait(100 * SECOND)).toBe(10 * SECOND);
    expect(wait(100 * SECOND, 15)).toBe(15 * SECOND);
    for (const retryAfter of [86_400, Infinity, NaN]) {
      expect(wait(100 * SECOND, retryAfter)).toBeLessThanOrEqual(20 * SECOND);
    }
  });
});

const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);

describe('retry schedules', () => {
  it('deduct: 5 attempts in 5 minutes, with any jitter and any Retry-After', () => {
    expect(waits(DEDUCT_SCHEDULE, 0)).toEqual([5, 15, 40, 80].map((s) => s * SECOND));
    for (const jitter of [0, 0.5, 0.999]) {
      for (const retryAfter of [0, 30, 1e9]) {
        expect(waits(DEDUCT_SCHEDULE, jitter, retryAfter)).toHaveLength(4);
        expect(sum(waits(DEDUCT_SCHEDULE, jitter, retryAfter))).toBeLessThanOrEqual(300 * SECOND);
      }
    }
  });

  it('deduct: no attempt begins later than 5 minutes after the first', () => {
    const late = { attempts: 2, firstAttemptAtMs: 0, jitter: 0 };
    expect(nextAttemptAtMs(DEDUCT_SCHEDULE, { ...late, nowMs: 285 * SECOND })).toBe(300 * SECOND);
    expect(nextAttemptAtMs(DEDUCT_SCHEDULE, { ...late, nowMs: 285 * SECOND + 1 })).toBeUndefined();
  });

  it('revert: the steps of rule I, then every 6 h for 7 days', () => {
    const all = waits(REVERT_SCHEDULE, 0);
    expect(all.slice(0, 9).map((ms) => ms / SECOND)).toEqual([
      5, 30, 120, 600, 1800, 3600, 7200, 21_600, 21_600,
    ]);
    expect(new Set(all.slice(7))).toEqual(new Set([6 * HOUR]));
    expect(sum(all)).toBeLessThanOrEqual(7 * 24 * HOUR);
    expect(sum(all)).toBeGreaterThan(7 * 24 * HOUR - 6 * HOUR);
  });

  it('confirm: 75 h in all, then nothing', () => {
    const all = waits(CONFIRM_SCHEDULE, 0);
    expect(all.map((ms) => ms / SECOND)).toEqual([
      5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]);
    expect(Math.floor(sum(all) / HOUR)).toBe(75);
  });

  it('payout: gives up within half an hour', () => {
    expect(sum(waits(PAYOUT_SCHEDULE, 0.9))).toBeLessThanOrEqual(HOUR / 2);
  });

  it.each([
    [0, undefined, 5000],
    [0.5, undefined, 5500],
    [0.999, undefined, 5999],
    [0, 3, 5000],
    [0.999, 3, 5999],
    [0, 8, 8000],
    [0, 10, 10_000],
    [0, 11, 10_000],
    [0, 1e300, 10_000],
    [0, -5, 5000],
    [0, NaN, 5000],
    [0, Infinity, 5000],
  ])(
    'a step of 5 s with jitter %s and Retry-After %s waits %s ms',
    (jitter, retryAfterSeconds, ms) => {
      const so = { attempts: 1, firstAttemptAtMs: 0, nowMs: 0, jitter, retryAfterSeconds };
      expect(nextAttemptAtMs(REVERT_SCHEDULE, so)).toBe(ms);
    },
  );
});
