import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address, type BlockDeltas, dailyMinima, dayOf, foldBlocks } from '#libs/domain';
import { DayReplay } from './day-replay.js';

const DAY = 86_400;
const FIRST = 20_454;
const WALLETS = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}` as Address);

/**
 * Balances that are never below zero at the end of a block. Many block times are midnights or repeat the one before.
 */
const histories: fc.Arbitrary<BlockDeltas[]> = fc
  .array(
    fc.record({
      step: fc.constantFrom(0, 0, 1, 3600, DAY - 1, DAY, 3 * DAY),
      toMidnight: fc.boolean(),
      targets: fc.array(fc.tuple(fc.nat(2), fc.constantFrom(0n, 1n, 7n, 100n)), { maxLength: 4 }),
    }),
    { maxLength: 30 },
  )
  .map((drafts) => {
    const held = WALLETS.map(() => 0n);
    let seconds = FIRST * DAY;
    return drafts.map(({ step, toMidnight, targets }, place): BlockDeltas => {
      seconds = toMidnight ? (dayOf(seconds) + 1) * DAY : seconds + step;
      const deltas = targets.map(([wallet, target]) => {
        const amount = target - (held[wallet] ?? 0n);
        held[wallet] = target;
        return { wallet: WALLETS[wallet] as Address, amount };
      });
      return { blockNumber: BigInt(place + 1), timestampSeconds: seconds, deltas };
    });
  });

describe('DayReplay', () => {
  it('has the lows of the rules of the domain, on each day of any history', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { days } = foldBlocks(new Map(), history);
        const replay = new DayReplay();
        const last = dayOf(history.at(-1)?.timestampSeconds ?? 0) + 1;
        for (let day = FIRST; day <= last; day += 1) {
          const blocks = history
            .filter(({ timestampSeconds }) => dayOf(timestampSeconds) === day)
            .map(({ blockNumber: number, timestampSeconds: seconds, deltas: effects }) => {
              return { number, seconds, effects };
            });
          const expected = WALLETS.flatMap((wallet) => {
            const rows = days.filter((row) => row.wallet === wallet && row.day <= day);
            const [low] = dailyMinima(rows, { firstDay: day, endDay: day + 1 });
            return low && low.minimum > 0n ? [{ wallet, low: low.minimum }] : [];
          });
          expect([...replay.day(day, blocks)]).toEqual(expected);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('goes on from what was applied before, and stops where a balance falls below zero', () => {
    const [wallet] = WALLETS as [Address];
    const replay = new DayReplay();
    replay.apply({ number: 1n, effects: [{ wallet, amount: 5n }] });
    expect([...replay.day(FIRST, [])]).toEqual([{ wallet, low: 5n }]);
    expect(() => {
      replay.apply({ number: 2n, effects: [{ wallet, amount: -6n }] });
    }).toThrow(`Block 2 takes more from wallet ${wallet} than it holds`);
  });
});
