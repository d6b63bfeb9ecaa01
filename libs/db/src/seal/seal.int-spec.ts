import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  addressBytes,
  buildDayTree,
  type DayLow,
  DayListBuilder,
  type DayTree,
  type Keccak256,
  provenLow,
} from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import {
  aBlock,
  anIndexOf,
  aWallet,
  createTestDatabase,
  listsOf,
  type TestDatabase,
  watchLocks,
} from '#libs/testing/database';
import {
  type Database,
  DayLows,
  type IndexSnapshotRef,
  SealedListStore,
  type SealOutcome,
  SealWriter,
} from '../index.js';

const DAY = 86_400;

let test: TestDatabase;
let admin: Database;
let database: Database;
let keccak: Keccak256;
let writer: SealWriter;
let lists: SealedListStore;
let basis: IndexSnapshotRef;
beforeAll(async () => {
  test = await createTestDatabase();
  admin = await test.open();
  database = await test.open({ url: test.urlAs('indexer') });
  keccak = await createKeccak256();
  writer = new SealWriter(database);
  lists = new SealedListStore(database);
});
beforeEach(async () => {
  await test.empty();
  await anIndex();
});
afterAll(() => test.drop());

/** An index that is level, final and verified up to block 100, with one block a day. */
async function anIndex(): Promise<void> {
  const head = aBlock(100, 100 * DAY);
  const facts = { finalised: head, verifiedNumber: 100n, synced: true };
  const { fence } = await anIndexOf(admin, [], { previousHead: aBlock(0, 0), head, ...facts });
  const known = await writer.basis(fence);
  if (known === undefined) throw new Error('it leads');
  basis = known;
}

/** A tree of every third address from 3 on, with the address's number as low. */
function aTree(wallets: number): DayTree {
  const builder = new DayListBuilder();
  for (const { wallet, low } of lowsOf(wallets)) builder.add(addressBytes(wallet), low);
  return buildDayTree(builder.list(), keccak);
}

function lowsOf(wallets: number): DayLow[] {
  return Array.from({ length: wallets }, (_, place) => {
    return { wallet: aWallet(3 * (place + 1)), low: BigInt(3 * (place + 1)) };
  });
}

function seal(day: number, wallets: number, block = aBlock(day, day * DAY)): Promise<SealOutcome> {
  const tree = aTree(wallets);
  const { list } = tree.leaves;
  const content = { day, root: tree.root, wallets, total: list.total, block, software: '1.2.3' };
  return writer.seal({ basis, content, lists: listsOf(tree) });
}

async function rowsOf(table: string): Promise<number> {
  const text = `SELECT count(*)::int AS rows FROM staking.${table}`;
  const [row] = await admin.query<{ rows: number }>({ text });
  return row?.rows ?? NaN;
}

describe('SealWriter', () => {
  it('lets no rollback and no other leader in between its last check and the commit', async () => {
    const watched = watchLocks(database, admin, 'staking.index_state');
    const content = { day: 7, root: aTree(0).root, wallets: 0, total: 0n, software: '1.2.3' };
    const block = aBlock(7, 7 * DAY);
    await new SealWriter(watched.database).seal({ basis, content: { ...content, block } });
    expect(watched.held.at(-1)).toBe(true);
  });

  it('forgets lists before a day, and those of revisions that do not count', async () => {
    const sealed = [];
    for (const day of [7, 8, 9]) sealed.push((await seal(day, 3)).sealed);
    sealed.push((await seal(8, 4)).sealed);
    await writer.forgetLists(basis.fence - 1n, 100);
    expect(await Promise.all(sealed.map((day) => lists.has(day)))).not.toContain(false);
    await writer.forgetLists(basis.fence, 8);
    const has = await Promise.all(sealed.map((day) => lists.has(day)));
    expect(has).toEqual([false, false, true, true]);
    expect(await rowsOf('sealed_day')).toBe(4);
  });
});

describe('a sealed day', () => {
  it.each([
    'UPDATE staking.sealed_day SET total = total + 1',
    'DELETE FROM staking.sealed_day',
    `UPDATE staking.sealed_leaves SET leaves = leaves`,
    `UPDATE staking.sealed_nodes SET nodes = nodes`,
  ])('is never changed: %s', async (text) => {
    await seal(7, 3);
    // Not even the owner may change a sealed day. The indexer's user has no right to try.
    await expect(admin.query({ text })).rejects.toThrow('a sealed day is never changed');
    await expect(database.query({ text })).rejects.toThrow('permission denied');
  });

  it.each([
    ['without the one before', 2, `decode(repeat('00', 32), 'hex')`, 8],
    ['beside the one that is there', 1, 'NULL', 7],
    ['that leaves one out', 3, `(SELECT root FROM staking.sealed_day)`, 7],
    ['that links to another root', 2, `decode(repeat('00', 32), 'hex')`, 7],
  ])('has no revision %s', async (_case, revision, previous, day) => {
    await seal(7, 3);
    const text = `INSERT INTO staking.sealed_day (day, revision, root, wallets, total, block_number, block_hash, software, previous_root)
      SELECT ${day}, ${revision}, root, wallets, total, block_number, block_hash, software, ${previous} FROM staking.sealed_day`;
    await expect(database.query({ text })).rejects.toThrow('does not follow the one that is there');
  });
});

describe('SealedListStore', () => {
  // Together with the leaves of both ends, these are just within a chunk, just beyond a chunk, and several chunks.
  it.each([0, 1, 254, 255, 256, 3000])(
    'proves each of %s wallets, and those between',
    async (count) => {
      const { sealed } = await seal(7, count);
      const { root } = sealed;
      const pages: DayLow[] = [];
      for await (const page of lists.pages(sealed)) pages.push(...page);
      expect(pages).toEqual(lowsOf(count));
      const places = [1, 2, 100, 253, 254, 255, 256, 257, 2046, 2047, 2048, count].filter(
        (at) => at > 0 && at <= count,
      );
      const wallets = [0, ...places.flatMap((at) => [3 * at - 1, 3 * at, 3 * at + 1])].map(aWallet);
      for (const wallet of [
        ...wallets,
        '0xffffffffffffffffffffffffffffffffffffffff' as (typeof wallets)[0],
      ]) {
        const proof = await lists.prove(sealed, wallet);
        if (proof === undefined) throw new Error('the list is kept');
        const expected = lowsOf(count).find((one) => one.wallet === wallet)?.low ?? 0n;
        expect(provenLow(wallet as never, { root, ...proof }, keccak)).toBe(expected);
      }
    },
  );

  it('knows nothing of a day without lists', async () => {
    const { sealed } = await seal(7, 3);
    expect(await lists.prove({ day: 8, revision: 1 }, aWallet(3))).toBeUndefined();
    await writer.forgetLists(basis.fence, 8);
    expect(await lists.prove(sealed, aWallet(3))).toBeUndefined();
    expect(await lists.has(sealed)).toBe(false);
  });
});

describe('DayLows', () => {
  const WALLETS = [1, 2, 3, 4, 5, 6].map(aWallet);
  beforeEach(() => test.empty());

  async function collected<T>(all: AsyncIterable<T>): Promise<T[]> {
    const found: T[] = [];
    for await (const one of all) found.push(one);
    return found;
  }

  // What they are is compared with the twin in memory by test/simulation/core/memory/stores.int-spec.ts.
  it.each([1, 2, 3, 5, 6])('are the same on pages of %i', async (pageSize) => {
    const history = WALLETS.map((wallet, place) => ({
      ...{ blockNumber: BigInt(place + 1), timestampSeconds: (100 + place) * DAY },
      deltas: [{ wallet, amount: BigInt(place + 1) }],
    }));
    await anIndexOf(admin, history, { previousHead: aBlock(0, 100 * DAY) });
    for (const day of [99, 100, 103, 106]) {
      const whole = await collected(new DayLows(admin).all(day));
      expect(whole).toHaveLength(Math.max(0, Math.min(6, day - 99)));
      expect(await collected(new DayLows(admin, pageSize).all(day))).toEqual(whole);
    }
  });

  it('names a wallet whose rows contradict each other', async () => {
    const [wallet] = WALLETS;
    if (wallet === undefined) throw new Error('there are wallets');
    const history = [
      { blockNumber: 1n, timestampSeconds: 100 * DAY, deltas: [{ wallet, amount: 5n }] },
    ];
    await anIndexOf(admin, history, { previousHead: aBlock(0, 100 * DAY) });
    await admin.query({ text: 'DELETE FROM staking.balance_day' });
    const lows = new DayLows(admin);
    await expect(lows.changed({ day: 100, above: 0n, upTo: 1n }, () => undefined)).rejects.toThrow(
      `wallet ${wallet} has balance changes on day 100 and no row of that day`,
    );
  });
});
