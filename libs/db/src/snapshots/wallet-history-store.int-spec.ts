import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BalanceChange, type BalanceDay } from '#libs/domain';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { IndexStore } from '../index.js';
import { WalletHistoryStore } from './wallet-history-store.js';

const DAY_SECONDS = 86_400;
const HUGE = 10n ** 60n;
const WALLET = aWallet(1);
const GENESIS = aBlock(0, 1);
/** Another wallet with changes in the same blocks. */
const OTHER = aWallet(2);
/** The wallet's changes: on day 100, twice on day 103, and on day 110, in blocks whose texts sort in another order. */
const MOMENTS = [
  { day: 100, block: 8, balance: HUGE },
  { day: 103, block: 9, balance: 7n },
  { day: 103, block: 10, balance: 0n },
  { day: 110, block: 100, balance: 9n },
];
const DAYS: readonly Omit<BalanceDay, 'wallet'>[] = [
  { day: 100, low: null, closing: HUGE },
  { day: 103, low: 0n, closing: 0n },
  { day: 110, low: 0n, closing: 9n },
];

let test: TestDatabase;
let history: WalletHistoryStore;

beforeAll(async () => {
  test = await createTestDatabase();
  const index = new IndexStore(await test.open());
  await index.create(anInitialIndex({ head: GENESIS }));
  const fence = await index.takeLead();
  const changes = MOMENTS.flatMap(({ day, block, balance }): BalanceChange[] =>
    [WALLET, OTHER].map((wallet) => ({
      ...{ wallet, blockNumber: BigInt(block), timestampSeconds: day * DAY_SECONDS + block },
      balance: wallet === WALLET ? balance : 1n,
    })),
  );
  const days = [WALLET, OTHER].flatMap((wallet) => DAYS.map((day) => ({ ...day, wallet })));
  const head = aBlock(100, 110 * DAY_SECONDS + 100);
  await index.commit({
    ...{ fence, previousHead: GENESIS, head, blocks: [] },
    folded: aFold({ changes, days, total: 10n }),
  });
  history = new WalletHistoryStore(await test.open({ url: test.urlAs('console') }));
});
afterAll(() => test.drop());

const momentsOf = (...places: readonly number[]) =>
  places.map((place) => {
    const { day, block, balance } = MOMENTS[place] ?? { day: 0, block: 0, balance: 0n };
    return { block: BigInt(block), seconds: day * DAY_SECONDS + block, balance };
  });

describe('WalletHistoryStore', () => {
  it('says on which day a wallet first staked, and nothing of one that never did', async () => {
    expect(await history.firstDay(WALLET)).toBe(100);
    expect(await history.firstDay(aWallet(3))).toBeUndefined();
    expect(await history.read(aWallet(3), { firstDay: 0, mostChanges: 5 })).toEqual({
      ...{ days: [], changes: [], isCut: false },
    });
  });

  it('reads all of it, oldest first, and balances to the last digit', async () => {
    const read = await history.read(WALLET, { firstDay: 0, mostChanges: 5 });
    expect(read).toEqual({ days: DAYS, changes: momentsOf(0, 1, 2, 3), isCut: false });
  });

  it.each([
    { firstDay: 100, days: DAYS, changes: [0, 1, 2, 3] },
    // The balance at the beginning of the range comes from an earlier change.
    { firstDay: 101, days: DAYS, changes: [0, 1, 2, 3] },
    { firstDay: 103, days: DAYS, changes: [0, 1, 2, 3] },
    { firstDay: 104, days: DAYS.slice(1), changes: [2, 3] },
    { firstDay: 110, days: DAYS.slice(1), changes: [2, 3] },
    { firstDay: 111, days: DAYS.slice(2), changes: [3] },
  ])('begins with what stood before day $firstDay', async ({ firstDay, days, changes }) => {
    const read = await history.read(WALLET, { firstDay, mostChanges: 5 });
    expect(read).toEqual({ days, changes: momentsOf(...changes), isCut: false });
  });

  it('keeps the newest changes where there are too many, and says so', async () => {
    const cut = await history.read(WALLET, { firstDay: 0, mostChanges: 3 });
    expect(cut).toEqual({ days: DAYS, changes: momentsOf(1, 2, 3), isCut: true });
    const whole = await history.read(WALLET, { firstDay: 0, mostChanges: 4 });
    expect(whole.isCut).toBe(false);
  });
});
