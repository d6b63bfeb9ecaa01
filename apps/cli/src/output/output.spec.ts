import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { duration, fieldLines, fromNow, jsonLine, printable, table, tokensText } from './text.js';

const HOSTILE = 'a\u001b[2J\nb\u202ec\u0085\ud800' + String.fromCodePoint(0xe0001);

describe('what is printed', () => {
  it('stays in its line and moves nothing', () => {
    expect(printable(HOSTILE)).toBe('a\\u001b[2J\\u000ab\\u202ec\\u0085\\ud800\\ue0001');
    expect(
      fieldLines([
        ['name', HOSTILE],
        ['no', undefined],
      ]).split('\n'),
    ).toHaveLength(2);
    expect(table(['A', 'B'], [[HOSTILE, 'x']]).split('\n')).toHaveLength(3);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });

  it('is lined up', () => {
    expect(
      table(
        ['A', 'LONG'],
        [
          ['first', 'b'],
          ['c', ''],
        ],
      ),
    ).toBe('A      LONG\nfirst  b\nc\n');
    expect(
      fieldLines(
        [
          ['a', '1'],
          ['long', '2'],
        ],
        ' ',
      ),
    ).toBe(' a     1\n long  2\n');
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
});

describe('jsonLine', () => {
  it('keeps digits and moments, and comes back as what was said', () => {
    const value = {
      amount: 2n ** 200n,
      usd: { digits: 1050n, scale: 2 },
      startedAtMs: 0,
      endedAtMs: null,
      timeoutMs: 5,
      at: new Date(1),
      text: HOSTILE,
    };
    const line = jsonLine([value]);
    expect(line).toMatch(/^[^\n]*\n$/);
    // Nothing that a terminal would act on.
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(line)).toEqual([
      {
        amount: (2n ** 200n).toString(),
        usd: '10.50',
        startedAt: '1970-01-01T00:00:00.000Z',
        endedAt: null,
        timeoutMs: 5,
        at: '1970-01-01T00:00:00.001Z',
        text: HOSTILE,
      },
    ]);
  });

  it('reads back whatever it wrote', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(jsonLine(text))).toBe(text);
      }),
    );
  });
});
