import { describe, expect, it } from '@jest/globals';
import { nextAttemptAtMs } from '../redemption/schedule.js';
import { attemptOutcome, WEBHOOK_SCHEDULE } from './webhook.js';

describe('the schedule', () => {
  const START = Date.UTC(2026, 0, 1);
  const attemptsFrom = (jitter: number): number[] => {
    const times = [START];
    for (let attempts = 1; ; attempts += 1) {
      const nowMs = times.at(-1) ?? 0;
      const so = { attempts, firstAttemptAtMs: START, nowMs, jitter };
      const next = nextAttemptAtMs(WEBHOOK_SCHEDULE, so);
      if (next === undefined) return times.map((ms) => (ms - START) / 1000);
      times.push(next);
    }
  };

  it('is the one of Standard Webhooks: ten attempts in 75 h 35 min 5 s', () => {
    expect(attemptsFrom(0)).toEqual([
      0, 5, 305, 2105, 9305, 27_305, 63_305, 113_705, 185_705, 272_105,
    ]);
  });

  it('has ten attempts whatever the jitter', () => {
    expect(attemptsFrom(0.999_999)).toHaveLength(10);
  });

  it('leaves one attempt to what has waited longer than that', () => {
    const so = { attempts: 1, firstAttemptAtMs: START, jitter: 0 };
    const nowMs = START + 7 * 86_400_000;
    expect(nextAttemptAtMs(WEBHOOK_SCHEDULE, { ...so, nowMs })).toBeUndefined();
  });
});

describe('an answer', () => {
  it.each([
    [199, 'failed'],
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [300, 'failed'],
    [302, 'failed'],
    [404, 'failed'],
    [410, 'gone'],
    [429, 'failed'],
    [500, 'failed'],
  ])('%i: %s', (status, kind) => {
    expect(attemptOutcome(status).kind).toBe(kind);
  });
});
