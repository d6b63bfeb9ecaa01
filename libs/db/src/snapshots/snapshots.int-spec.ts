import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address, type BalanceChange, type BalanceDay, type DayBalance } from '#libs/domain';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import {
  type AskedDays,
  type Database,
  IndexStore,
  isDaysText,
  SnapshotStore,
  walletDaysFrom,
  WalletHistoryStore,
  type WindowSink,
} from '../index.js';

let test: TestDatabase;
let writer: Database;
let snapshots: SnapshotStore;

beforeAll(async () => {
  test = await createTestDatabase();
  writer = await test.open();
  snapshots = new SnapshotStore(await test.open({ readOnly: true }));
});
afterAll(() => test.drop());

const days: BalanceDay[] = [3, 5, 6, 9, 10].map((day) => ({
  wallet: aWallet(1),
  day,
  low: day === 6 ? null : BigInt(day),
  closing: 10n ** 30n + BigInt(day),
}));

async function readOf(wallet: Address, endDay: number) {
  const read = await snapshots.read([{ wallet, endDay }]);
  return read && { state: read.state, daysText: read.daysTexts[0] };
}

/** The days of all pieces, which have to come in the order asked. */
async function readWindow(wallets: readonly Address[], window: AskedDays) {
  const found = new Map<Address, readonly DayBalance[]>();
  const seen: Address[] = [];
  const add: WindowSink['add'] = (piece, days) => {
    seen.push(...piece);
    for (const [wallet, ofWallet] of days) found.set(wallet, ofWallet);
  };
  const read = await snapshots.readWindow(wallets, window, () => ({ add }));
  expect(seen).toEqual(wallets);
  return { read, found };
}

describe('SnapshotStore', () => {
  it('says where there is no index yet', async () => {
    expect(await readOf(aWallet(1), 10)).toBeUndefined();
    expect(await snapshots.read()).toBeUndefined();
  });

  it('reads the newest days before the end, the state and the price at once', async () => {
    const store = new IndexStore(writer);
    await store.create(anInitialIndex());
    const fence = await store.takeLead();
    const [previousHead, head] = [aBlock(0), aBlock(4)];
    const folded = aFold({ days, total: 3n });
    await store.commit({ fence, previousHead, head, folded, blocks: [] });

    const read = await readOf(aWallet(1), 10);
    const state = await store.state();
    expect(read?.state).toEqual({
      generation: expect.stringMatching(/^[0-9a-f-]{36}$/),
      head: state?.head,
      finalisedSeconds: undefined,
      syncedAt: undefined,
      haltedReason: undefined,
      findings: new Set(),
      chainId: state?.chainId,
      stakeContract: state?.stakeContract,
      tokenContract: state?.tokenContract,
      tokenSymbol: state?.tokenSymbol,
      tokenDecimals: state?.tokenDecimals,
      price: undefined,
    });
    expect(isDaysText(read?.daysText ?? '')).toBe(true);
    expect(walletDaysFrom(read?.daysText ?? '')).toEqual(
      [9, 6, 5, 3].map((day) => ({
        day,
        low: day === 6 ? null : BigInt(day),
        closing: 10n ** 30n + BigInt(day),
      })),
    );
    expect((await snapshots.read())?.state).toBe(read?.state);
    expect(snapshots.seen).toBe(read?.state);
  });

  it('reads a window of a thousand wallets, piece by piece, each in its place', async () => {
    const wallets = Array.from({ length: 1000 }, (_, place) => aWallet(1000 - place));
    const { read, found } = await readWindow(wallets, { firstDay: 5, endDay: 10 });
    expect([...found]).toEqual([[aWallet(1), expect.any(Array)]]);
    expect(found.get(aWallet(1))).toHaveLength(4);
    expect(read?.state).toEqual((await snapshots.read())?.state);
  });

  it('reads 31 days at most: the longest window and what is carried into it', async () => {
    const busy = Array.from({ length: 40 }, (_, day) => ({
      wallet: aWallet(5),
      day,
      low: 0n,
      closing: BigInt(day),
    }));
    const store = new IndexStore(writer);
    const fence = await store.takeLead();
    const [previousHead, head] = [aBlock(4), aBlock(5)];
    await store.commit({
      fence,
      previousHead,
      head,
      folded: aFold({ days: busy }),
      blocks: [],
      finalised: aBlock(3),
      synced: true,
    });
    const read = await readOf(aWallet(5), 39);
    const found = walletDaysFrom(read?.daysText ?? '').map(({ day }) => day);
    expect(found).toEqual(Array.from({ length: 31 }, (_, i) => 38 - i));
    expect(read?.state).toMatchObject({
      finalisedSeconds: aBlock(3).timestampSeconds,
      syncedAt: expect.any(Date),
    });
  });
});

describe('WalletHistoryStore', () => {
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

  let history: WalletHistoryStore;
  beforeAll(async () => {
    await test.empty();
    const index = new IndexStore(writer);
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

  const momentsOf = (...places: readonly number[]) =>
    places.map((place) => {
      const { day, block, balance } = MOMENTS[place] ?? { day: 0, block: 0, balance: 0n };
      return { block: BigInt(block), seconds: day * DAY_SECONDS + block, balance };
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
