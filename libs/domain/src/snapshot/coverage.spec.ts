import { describe, expect, it } from '@jest/globals';
import { coverage } from './snapshot.js';

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
    ['a head dated into the future', { headSeconds: 1_000_221, syncedAt }, { reason: 'ahead' }],
    ['no first sync yet', { headSeconds: 1_000_100 }, { reason: 'not-synced' }],
    ['a halt', { headSeconds: 1_000_100, syncedAt, haltedReason: 'x' }, { reason: 'halted' }],
  ])('with %s', (_, progress, expected) => {
    expect(coverage(progress, window, nowMs, 120)).toEqual(expected);
  });
});
