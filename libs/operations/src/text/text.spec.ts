import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isMoment } from './is-moment.js';
import { counted, due, duration, fromNow, printable, tokensText } from './text.js';

const HOSTILE = 'a\u001b[2J\nb\u202ec\u0085\ud800' + String.fromCodePoint(0xe0001);

describe('a text of an operator', () => {
  it('stays in its line and moves nothing', () => {
    expect(printable(HOSTILE)).toBe('a\\u001b[2J\\u000ab\\u202ec\\u0085\\ud800\\ue0001');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });

  it.each([
    [0n, 18, '0'],
    [340n * 10n ** 18n, 18, '340'],
    [1n, 18, '0.000000000000000001'],
    [1500n, 3, '1.5'],
    [100n, 0, '100'],
  ])('%s of %s decimals are %s tokens', (tokenAmount, tokenDecimals, text) => {
    expect(tokensText({ tokenAmount, tokenDecimals })).toBe(text);
  });

  it('says how long and when', () => {
    expect([0, 59_400, 61_000, 3_600_000, 90_000_000].map(duration)).toEqual([
      '0s',
      '59s',
      '1m 1s',
      '1h 0m',
      '1d 1h',
    ]);
    expect(fromNow(5000, 0)).toBe('in 5s');
    expect(fromNow(0, 5000)).toBe('5s ago');
    expect(duration(-1)).toBe('0s');
  });

  it('says when something is due, and what of it there is', () => {
    expect([5000, 0, -12_000].map((atMs) => due(atMs, 0))).toEqual([
      'in 5s',
      'now',
      'now, 12s late',
    ]);
    expect([0, 1, 2].map((count) => counted(count, 'attempt'))).toEqual([
      '0 attempts',
      '1 attempt',
      '2 attempts',
    ]);
  });
});

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
    ['2026'],
    ['2026-02-29'],
    ['2026-02-31T10:00Z'],
    ['2026-03-01T25:00Z'],
    ['2026-03-01T10:00'],
    ['2026-03-01T10:00:00+99:00'],
    ['9999-99-99T99:99:99Z'],
    ['0000-01-01'],
    ['+012026-01-01T00:00:00Z'],
    ['2026-03-01\0'],
    ['2026-03-01\n'],
    [''],
    [['2026-03-01']],
  ])('is not %j', (value) => {
    expect(isMoment(value)).toBe(false);
  });
});
