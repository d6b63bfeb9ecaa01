import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { retryAfterSeconds } from './verify-answer.js';

const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 30);

describe('retryAfterSeconds', () => {
  it.each([
    ['0', 0],
    ['120', 120],
    [' 7 ', 7],
    ['86401', 86_400],
    ['9'.repeat(400), 86_400],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 7],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 7],
    ['Sun Nov  6 08:49:37 1994', 7],
    ['Sun, 06 Nov 1994 08:49:00 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400],
  ])('reads %p as %p', (header, seconds) => {
    expect(retryAfterSeconds(header, NOW_MS)).toBe(seconds);
  });

  it.each([
    undefined,
    '',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    'soon',
    '20 30',
    '2030-01-01T00:00:00Z',
    'Sun, 99 Nov 1994 08:49:37 GMT',
  ])('takes %p for none', (header) => {
    expect(retryAfterSeconds(header, NOW_MS)).toBeUndefined();
  });

  it('takes a repeated one for none, and is bounded whatever comes', () => {
    expect(retryAfterSeconds(['1', '2'], NOW_MS)).toBeUndefined();
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (header) => {
        const seconds = retryAfterSeconds(header, NOW_MS) ?? 0;
        expect(seconds >= 0 && seconds <= 86_400).toBe(true);
      }),
    );
  });
});
