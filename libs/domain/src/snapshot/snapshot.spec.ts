import { describe, expect, it } from '@jest/globals';
import { coverage, windowOf } from './snapshot.js';

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
