import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address, type BalanceDay, type DayBalance } from '#libs/domain';
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
  PriceStore,
  SnapshotStore,
  walletDaysFrom,
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

  it.each([
    ['days and the newest before them', 5, 10, [9, 6, 5, 3]],
    ['what was before, where nothing changed', 7, 9, [6]],
    ['nothing, where nothing was before', 1, 3, []],
    ['all, where none is before', 0, 11, [10, 9, 6, 5, 3]],
    ['nothing of later', 11, 12, [10]],
  ])('reads of a window %s', async (_, firstDay, endDay, expected) => {
    const wallets = [2, 1, 3].map(aWallet);
    const { read, found } = await readWindow(wallets, { firstDay, endDay });
    const newestFirst = found.get(aWallet(1))?.toSorted((a, b) => b.day - a.day);
    const all = days.map(({ day, low, closing }) => ({ day, low, closing }));
    expect(newestFirst).toEqual(expected.map((day) => all.find((one) => one.day === day)));
    expect([...found.keys()]).toEqual([aWallet(1)]);
    expect(read?.state).toEqual((await snapshots.read())?.state);
  });

  it('reads a window of no wallet at all', async () => {
    const { read, found } = await readWindow([], { firstDay: 1, endDay: 9 });
    expect(found.size).toBe(0);
    expect(read?.state).toEqual((await snapshots.read())?.state);
  });

  it('reads a window of a thousand wallets, piece by piece, each in its place', async () => {
    const wallets = Array.from({ length: 1000 }, (_, place) => aWallet(1000 - place));
    const { found } = await readWindow(wallets, { firstDay: 5, endDay: 10 });
    expect([...found]).toEqual([[aWallet(1), expect.any(Array)]]);
    expect(found.get(aWallet(1))).toHaveLength(4);
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

  it('knows a wallet whose history lies outside the window, and one that has none', async () => {
    expect(await readOf(aWallet(1), 3)).toMatchObject({ daysText: '[]' });
    expect(await readOf(aWallet(2), 10)).toMatchObject({ daysText: undefined });
  });

  it('reads several wallets at once, each to its own day, in the order asked', async () => {
    const asked = [
      { wallet: aWallet(2), endDay: 10 },
      { wallet: aWallet(1), endDay: 6 },
      { wallet: aWallet(1), endDay: 3 },
    ];
    const read = await snapshots.read(asked);
    expect(
      read?.daysTexts.map((text) => text && walletDaysFrom(text).map(({ day }) => day)),
    ).toEqual([undefined, [5, 3], []]);
  });

  it('gives the price that was read last, with its own time', async () => {
    const prices = new PriceStore(writer);
    const [early, late] = [new Date(1_700_000_000_000), new Date(1_700_000_600_123)];
    expect(await prices.newest()).toBeUndefined();
    await prices.add({ usd: '0.00000000000000000012', observedAt: late, source: 'fixed' });
    await prices.add({ usd: '2.50', observedAt: early, source: 'chainlink:0x1' });
    const price = { usd: '2.50', observedAt: early, source: 'chainlink:0x1' };
    expect(await prices.newest()).toEqual(price);
    expect((await readOf(aWallet(1), 10))?.state.price).toEqual(price);
    await prices.add({ usd: '0.00000000000000000012', observedAt: late, source: 'fixed' });
    expect((await readOf(aWallet(1), 10))?.state.price).toEqual({
      usd: '0.00000000000000000012',
      observedAt: late,
      source: 'fixed',
    });
  });
});
