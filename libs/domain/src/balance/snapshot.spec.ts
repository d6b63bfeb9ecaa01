import { describe, expect, it } from '@jest/globals';
import { coverage, dailyMinima, windowOf } from './snapshot.js';

describe('coverage', () => {
  const window = { endSeconds: 1_000_000 };
  const nowMs = 1_000_100_000;
  const syncedAt = new Date(0);

  it.each([
    ['the head at the end of the window', { headSeconds: 1_000_000, syncedAt }, 'covered'],
    ['an old head past the window', { headSeconds: 1_000_001, syncedAt }, 'covered'],
    ['a head before the end, within the lag', { headSeconds: 999_980, syncedAt }, 'covered'],
    ['a head one second too old', { headSeconds: 999_979, syncedAt }, { reason: 'lagging' }],
    ['a head ahead of the clock', { headSeconds: 1_000_200, syncedAt }, 'covered'],
    ['a head as far ahead as a clock may be', { headSeconds: 1_000_220, syncedAt }, 'covered'],
    ['a head dated into the future', { headSeconds: 1_000_221, syncedAt }, { reason: 'ahead' }],
    ['no first sync yet', { headSeconds: 1_000_100 }, { reason: 'not-synced' }],
    ['a halt', { headSeconds: 1_000_100, syncedAt, haltedReason: 'x' }, { reason: 'halted' }],
  ])('with %s', (_, progress, expected) => {
    expect(coverage(progress, window, nowMs, 120)).toEqual(expected);
  });

  it.each([
    [1_000_000, 'covered'],
    [999_999, { reason: 'lagging' }],
  ])('with a head at %s, years later', (headSeconds, expected) => {
    expect(coverage({ headSeconds, syncedAt }, window, 100 * nowMs, 120)).toEqual(expected);
  });
});

describe('windowOf', () => {
  it.each([
    ['2026-11-21T00:00:00.000Z', '2026-11-14T00:00:00Z', '2026-11-21T00:00:00Z'],
    ['2026-11-21T23:59:59.999Z', '2026-11-14T00:00:00Z', '2026-11-21T00:00:00Z'],
    ['2028-03-03T12:00:00.000Z', '2028-02-25T00:00:00Z', '2028-03-03T00:00:00Z'],
  ])('of a request at %s is [%s, %s)', (at, start, end) => {
    const window = windowOf(Date.parse(at), 7);
    expect(window.startSeconds).toBe(Date.parse(start) / 1000);
    expect(window.endSeconds).toBe(Date.parse(end) / 1000);
    expect(window.endDay - window.firstDay).toBe(7);
  });
});

describe('dailyMinima', () => {
  const window = { firstDay: 100, endDay: 107 };
  const minima = (...rows: { day: number; low: bigint | null; closing: bigint }[]) =>
    dailyMinima(rows, window).map(({ minimum }) => Number(minimum));

  it('is 0 throughout without rows', () => {
    expect(minima()).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  it('carries the closing balance of the newest row before the window', () => {
    expect(minima({ day: 50, low: 0n, closing: 5n }, { day: 99, low: null, closing: 8n })).toEqual([
      8, 8, 8, 8, 8, 8, 8,
    ]);
  });

  it('takes the rows of the published example in any order', () => {
    expect(
      minima(
        { day: 105, low: 650n, closing: 700n },
        { day: 101, low: 100n, closing: 300n },
        { day: 103, low: 300n, closing: 150n },
        { day: 100, low: 0n, closing: 100n },
        { day: 104, low: 150n, closing: 650n },
        { day: 106, low: 700n, closing: 650n },
      ),
    ).toEqual([0, 100, 300, 150, 150, 650, 650]);
  });

  it('ignores the day of the request', () => {
    expect(minima({ day: 107, low: 1n, closing: 2n })).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });
});
