import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  anInitialIndex,
  createTestDatabase,
  type TestDatabase,
  watchLocks,
} from '#libs/testing/database';
import {
  type Database,
  IndexStore,
  type Price,
  PriceAcceptanceStore,
  PriceStore,
} from '../index.js';

// One call after the other, with each refusal, is compared with the twin in memory by
// test/simulation/core/memory/stores.int-spec.ts.
const FEED = 'chainlink:0x1';

let test: TestDatabase;
let database: Database;
let prices: PriceStore;
let fence: bigint;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  prices = new PriceStore(database);
  await new IndexStore(database).create(anInitialIndex());
});
beforeEach(async () => {
  await database.query({ text: 'TRUNCATE staking.price' });
  fence = await new IndexStore(database).takeLead();
});
afterAll(() => test.drop());

function aPrice(minute: number, usd: string, source = FEED): Price {
  return { usd, observedAt: new Date(1_700_000_000_000 + minute * 60_000), source };
}

describe('the price that is quoted', () => {
  it('is not held back by one that a wrong clock dated ahead', async () => {
    const ahead = new Date(Date.now() + 3_600_000);
    await prices.record(fence, { ...aPrice(0, '9'), observedAt: ahead });
    expect(await prices.record(fence, aPrice(1, '1'))).toBe(true);
    expect(await prices.newest()).toEqual(aPrice(1, '1'));
  });

  it('leaves the one before where a source tells another figure of the same time: a drift shows', async () => {
    const figures = ['10', '9', '8', '9', '7'];
    for (const usd of figures) expect(await prices.record(fence, aPrice(1, usd))).toBe(true);
    expect(await prices.record(fence, aPrice(1, '7'))).toBe(true);
    expect(await prices.newest()).toEqual(aPrice(1, '7'));
    expect(await prices.standing()).toMatchObject({ lowestUsd: '7', highestUsd: '10' });
    const text = 'SELECT usd FROM staking.price ORDER BY observed_at';
    const rows = await database.query<{ usd: string }>({ text });
    expect(rows.map(({ usd }) => usd)).toEqual(figures);
    expect(await prices.record(fence, aPrice(2, '6'))).toBe(true);
    expect(await prices.record(fence, aPrice(1, '5'))).toBe(false);
  });

  it.each(['0', '-1', 'NaN', 'Infinity'])('is not %s', async (usd) => {
    await expect(prices.record(fence, aPrice(1, usd))).rejects.toMatchObject({ sqlState: '23514' });
  });
});

it('a held price cannot be replaced by the next reading while it is accepted', async () => {
  await database.query({
    text: `INSERT INTO staking.price_hold (reason, max_change, usd, observed_at, source) VALUES ('jump', 0.2, 9, now(), 'fixed')`,
  });
  const watched = watchLocks(database, await test.open(), 'staking.price_hold');
  const note = { command: 'price accept', outcome: 'done' };
  await new PriceAcceptanceStore(watched.database).accept('9', { actor: 'operator:anna', note });
  expect(watched.held).toEqual([true, true, true]);
});
