import { describe, expect, it } from '@jest/globals';
import { windowOf } from '../snapshot/snapshot.js';
import { dayOf, parseDay, SECONDS_PER_DAY } from './day.js';

describe('dayOf', () => {
  it('starts a day at exactly 00:00:00', () => {
    const midnight = Date.parse('2026-11-21T00:00:00Z') / 1000;
    expect(dayOf(midnight) - dayOf(midnight - 1)).toBe(1);
    expect(dayOf(midnight)).toBe(dayOf(midnight + 86_399));
    expect(dayOf(-1)).toBe(-1);
  });
});

describe('parseDay', () => {
  it.each(['1970-01-01', '2026-11-20', '2024-02-29', '9999-12-31'])('takes %s', (text) => {
    const day = parseDay(text) ?? NaN;
    expect(new Date(day * SECONDS_PER_DAY * 1000).toISOString()).toBe(`${text}T00:00:00.000Z`);
  });

  it.each(['', '2026-02-30', '2100-02-29', '2026-04-31', '2026-12-32', '1969-12-31', '26-11-20'])(
    'refuses %p',
    (text) => {
      expect(parseDay(text)).toBeUndefined();
    },
  );
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
