import { describe, expect, it } from '@jest/globals';
import { coolDownBreach, coolDownSeconds } from './limits.js';

const NOW = 1_772_366_400_000;
const COOL_DOWN = { firstSeconds: 300, longestSeconds: 86_400 };

describe('coolDownSeconds', () => {
  it.each([
    [0, 0],
    [1, 300],
    [2, 600],
    [3, 1200],
    [9, 76_800],
    [10, 86_400],
    [1_000_000, 86_400],
  ])('after %p vouchers without a claim: %p s', (count, seconds) => {
    expect(coolDownSeconds(count, COOL_DOWN)).toBe(seconds);
  });

  it('can be switched off', () => {
    expect(coolDownSeconds(50, { firstSeconds: 0, longestSeconds: 86_400 })).toBe(0);
  });
});

describe('coolDownBreach', () => {
  it('is over when its time has come, and not a millisecond before', () => {
    const after = (count: number, agoMs: number) =>
      coolDownBreach({ count, lastEndedAtMs: NOW - agoMs }, COOL_DOWN, NOW);
    expect(after(2, 600_000)).toBeUndefined();
    expect(after(2, 599_999)).toMatchObject({ code: 'VOUCHER_COOL_DOWN', retryAfterSeconds: 1 });
    expect(after(2, 0)?.retryAfterSeconds).toBe(600);
    expect(coolDownBreach({ count: 0 }, COOL_DOWN, NOW)).toBeUndefined();
  });

  it('says until when', () => {
    const breach = coolDownBreach({ count: 1, lastEndedAtMs: NOW }, COOL_DOWN, NOW);
    expect(breach?.message).toBe(
      'Your last voucher was not claimed. You can redeem again at 2026-03-01T12:05:00.000Z, in 300 seconds.',
    );
  });
});
