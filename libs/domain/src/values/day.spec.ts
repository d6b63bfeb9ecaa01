import { describe, expect, it } from '@jest/globals';
import { dayOf, dayText, parseDay, SECONDS_PER_DAY } from './day.js';

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
    expect(dayText(day)).toBe(text);
  });

  it.each(['', '2026-02-30', '2100-02-29', '2026-04-31', '2026-12-32', '1969-12-31', '26-11-20'])(
    'refuses %p',
    (text) => {
      expect(parseDay(text)).toBeUndefined();
    },
  );
});
