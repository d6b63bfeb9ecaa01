import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type BlockDeltas, dailyMinima, dayOf } from '#libs/domain';
import {
  aBlock,
  anIndexOf,
  aWallet,
  createTestDatabase,
  stakeHistories,
  type TestDatabase,
} from '#libs/testing/database';
import { type Database, DayLows } from '../index.js';

const DAY = 86_400;
const WALLETS = [1, 2, 3, 4, 5, 6].map(aWallet);

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
});
beforeEach(() => test.empty());
afterAll(() => test.drop());

const histories = stakeHistories(WALLETS, 100, [0n, 1n, 7n, 100n]);

async function indexed(history: readonly BlockDeltas[]) {
  const { folded } = await anIndexOf(database, history, { previousHead: aBlock(0, 100 * DAY) });
  return folded.days;
}

async function collected(lows: DayLows, day: number) {
  const all = [];
  for await (const { wallet, low, closing } of lows.all(day)) {
    all.push([`0x${wallet.toString('hex')}`, low, closing] as const);
  }
  return all;
}

describe('DayLows', () => {
  it('tells all wallets on a day, and those with a change on it, as the rules of the domain do', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 1, max: 4 }), async (history, pageSize) => {
        await test.empty();
        const days = await indexed(history);
        const lows = new DayLows(database, pageSize);
        const known = [...new Set(days.map(({ wallet }) => wallet))].sort();
        const lastDay = dayOf(history.at(-1)?.timestampSeconds ?? 0) + 1;
        for (let day = 99; day <= lastDay; day += 1) {
          const before = known.filter((wallet) =>
            days.some((row) => row.wallet === wallet && row.day <= day),
          );
          const expected = before.map((wallet) => {
            const rows = days.filter((row) => row.wallet === wallet && row.day <= day);
            const [low] = dailyMinima(rows, { firstDay: day, endDay: day + 1 });
            const closing = rows.toSorted((a, b) => a.day - b.day).at(-1)?.closing ?? 0n;
            return [wallet, low?.minimum ?? 0n, closing] as const;
          });
          expect(await collected(lows, day)).toEqual(expected);
          const blocks = history.filter((block) => dayOf(block.timestampSeconds) === day);
          const upTo = blocks.at(-1)?.blockNumber ?? 0n;
          const above = (blocks[0]?.blockNumber ?? 1n) - 1n;
          const changed: unknown[] = [];
          await lows.changed({ day, above, upTo }, ({ wallet, low, closing }) => {
            changed.push([`0x${wallet.toString('hex')}`, low, closing]);
          });
          const touched = days.filter((row) => row.day === day).map(({ wallet }) => wallet);
          expect(changed).toEqual(expected.filter(([wallet]) => touched.includes(wallet)));
        }
      }),
      { numRuns: 12 },
    );
  });

  it('names a wallet whose rows contradict each other', async () => {
    const [wallet] = WALLETS;
    if (wallet === undefined) throw new Error('there are wallets');
    await indexed([
      { blockNumber: 1n, timestampSeconds: 100 * DAY, deltas: [{ wallet, amount: 5n }] },
    ]);
    await database.query({ text: 'DELETE FROM staking.balance_day' });
    const lows = new DayLows(database);
    await expect(lows.changed({ day: 100, above: 0n, upTo: 1n }, () => undefined)).rejects.toThrow(
      `wallet ${wallet} has balance changes on day 100 and no row of that day`,
    );
  });
});
