import { describe, expect, it } from '@jest/globals';
import { windowOf } from '../snapshot/snapshot.js';
import { dayOf } from './day.js';

describe('dayOf', () => {
  it('starts a day at exactly 00:00:00', () => {
    const midnight = Date.parse('2026-11-21T00:00:00Z') / 1000;
    expect(dayOf(midnight) - dayOf(midnight - 1)).toBe(1);
    expect(dayOf(midnight)).toBe(dayOf(midnight + 86_399));
    expect(dayOf(-1)).toBe(-1);
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
