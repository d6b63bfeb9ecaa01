import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address } from '../values/address.js';
import { dailyMinima } from './snapshot.js';
import { type BalanceChange, type BalanceDay } from './balance.js';
import {
  compareRows,
  type CorrectedDays,
  correctedDays,
  isSame,
  NO_ROWS,
  rowsOf,
} from './wallet-rows.js';

const WALLET = `0x${'a'.repeat(40)}` as Address;
const FIRST = 20_000;
const END = FIRST + 12;

const days: fc.Arbitrary<BalanceDay[]> = fc
  .uniqueArray(
    fc.record({
      day: fc.integer({ min: FIRST, max: END - 1 }),
      low: fc.option(fc.bigInt({ min: 0n, max: 3n })),
      closing: fc.bigInt({ min: 0n, max: 3n }),
    }),
    { selector: ({ day }) => day, maxLength: 8 },
  )
  .map((rows) => rows.map((row) => ({ wallet: WALLET, ...row })).sort((a, b) => a.day - b.day));

describe('correctedDays', () => {
  const isOneRun = (one: CorrectedDays, two: CorrectedDays): boolean =>
    one.lastDay + 1 === two.firstDay && one.stored === two.stored && one.correct === two.correct;

  it('are exactly the days whose amount differs, in the longest runs', () => {
    fc.assert(
      fc.property(days, days, (stored, correct) => {
        const both = {
          stored: { changes: [], days: stored },
          correct: { changes: [], days: correct },
        };
        const found = correctedDays(WALLET, both, END);
        const told = found.flatMap(({ wallet, firstDay, lastDay, ...amounts }) =>
          Array.from({ length: lastDay - firstDay + 1 }, (_, place) => {
            return { wallet, day: firstDay + place, ...amounts };
          }),
        );
        const window = { firstDay: FIRST - 1, endDay: END };
        const right = dailyMinima(correct, window);
        const expected = dailyMinima(stored, window).flatMap(({ day, minimum }, place) => {
          const amount = right[place]?.minimum ?? 0n;
          return amount === minimum
            ? []
            : [{ wallet: WALLET, day, stored: minimum, correct: amount }];
        });
        expect(told).toEqual(expected);
        for (const [place, run] of found.entries()) {
          const before = found[place - 1];
          expect(run.lastDay).toBeGreaterThanOrEqual(run.firstDay);
          expect(before !== undefined && isOneRun(before, run)).toBe(false);
        }
      }),
    );
  });
});

describe('compareRows', () => {
  it('removes and adds what makes the stored rows the correct ones', () => {
    fc.assert(
      fc.property(days, days, (stored, correct) => {
        const rows = (of: readonly BalanceDay[]) => ({ changes: [], days: of });
        const { remove, add } = compareRows(rows(stored), rows(correct));
        const kept = stored.filter((row) => !remove.days.includes(row));
        expect([...kept, ...add.days].sort((a, b) => a.day - b.day)).toEqual(correct);
        expect(isSame({ remove, add })).toBe(
          JSON.stringify(stored, text) === JSON.stringify(correct, text),
        );
      }),
    );
  });

  it('names a balance change that is wrong on both sides, and one that is missing on one', () => {
    const block = (number: bigint, amount: bigint) => ({
      blockNumber: number,
      timestampSeconds: FIRST * 86_400 + Number(number),
      deltas: [{ wallet: WALLET, amount }],
    });
    const correct = rowsOf([block(1n, 5n), block(2n, 5n)]);
    const [first, second] = correct.changes;
    const stored = { ...correct, changes: first ? [{ ...first, balance: 4n }] : [] };
    expect(compareRows(stored, correct)).toEqual({
      remove: { changes: [{ ...first, balance: 4n }], days: [] },
      add: { changes: [first, second], days: [] },
    });
    expect(isSame(compareRows(stored, correct))).toBe(false);
    expect(isSame(compareRows(NO_ROWS, NO_ROWS))).toBe(true);
  });

  it('names only the balance changes that are wrong, and a difference of nothing else', () => {
    const change = (block: bigint, balance: bigint) => ({
      ...{ wallet: WALLET, blockNumber: block, timestampSeconds: FIRST * 86_400, balance },
    });
    const rows = (...changes: BalanceChange[]) => ({ changes, days: [] });
    const [right, wrong, mended] = [change(1n, 5n), change(2n, 9n), change(2n, 10n)];
    const difference = compareRows(rows(right, wrong), rows(right, mended));
    expect(difference).toEqual({ remove: rows(wrong), add: rows(mended) });
    expect(isSame(difference)).toBe(false);
    expect(isSame(compareRows(rows(right), rows(right)))).toBe(true);
  });
});

function text(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
