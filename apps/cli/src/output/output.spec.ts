import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fieldLines, jsonLine, table } from './text.js';

const HOSTILE = 'a\u001b[2J\nb\u202ec\u0085\ud800' + String.fromCodePoint(0xe0001);

describe('what is printed', () => {
  it('stays in its line and moves nothing', () => {
    expect(
      fieldLines([
        ['name', HOSTILE],
        ['no', undefined],
      ]).split('\n'),
    ).toHaveLength(2);
    expect(table(['A', 'B'], [[HOSTILE, 'x']]).split('\n')).toHaveLength(3);
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
    // No characters that a terminal would interpret.
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
