import { describe, expect, it } from '@jest/globals';
import { isMoment } from './is-moment.js';

describe('a moment', () => {
  it.each([
    '2026-03-01',
    '2024-02-29',
    '2026-03-01T14:30Z',
    '2026-03-01T14:30:59.123456Z',
    '2026-03-01T14:30:00+05:30',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ])('is %s', (text) => {
    expect(isMoment(text)).toBe(true);
    expect(Number.isNaN(new Date(text).getTime())).toBe(false);
  });

  it.each<[unknown]>([
    ['2026-W10'],
    ['2026-060'],
    ['2026'],
    ['2026-03'],
    ['2026-02-29'],
    ['2026-02-31T10:00Z'],
    ['2026-13-01'],
    ['2026-03-01T25:00Z'],
    ['2026-03-01T10:00'],
    ['2026-03-01T10:00:00+99:00'],
    ['2026-03-01T10:00:00+15:00'],
    ['9999-99-99T99:99:99Z'],
    ['0000-01-01'],
    ['+012026-01-01T00:00:00Z'],
    ['2026-03-01\0'],
    ['2026-03-01\n'],
    [''],
    [['2026-03-01']],
    [undefined],
  ])('is not %j', (value) => {
    expect(isMoment(value)).toBe(false);
  });
});
