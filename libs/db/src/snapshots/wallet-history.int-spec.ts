import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BlockDeltas, foldBlocks } from '#libs/domain';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing';
import { type Database } from '../connection/database.js';
import { IndexStore } from '../index-store/index-store.js';
import { WalletHistoryStore } from './wallet-history-store.js';

const WALLET = aWallet(1);
const HOUR = 3600;
const FIRST = 1_767_225_600;
/** Numbers whose texts sort in another order. */
const BLOCKS = [8, 9, 10, 99, 100, 101];

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  const store = new IndexStore(database);
  const before = aBlock(1, FIRST);
  await store.create(anInitialIndex({ head: before }));
  const deltas: BlockDeltas[] = BLOCKS.map((number, place) => ({
    blockNumber: BigInt(number),
    timestampSeconds: FIRST + (place + 1) * HOUR,
    deltas: [{ wallet: WALLET, amount: 1n }],
  }));
  const folded = foldBlocks(new Map(), deltas);
  const head = aBlock(200, FIRST + 24 * HOUR);
  await store.commit({
    ...{ fence: await store.takeLead(), previousHead: before, head },
    ...{ folded, blocks: [head], synced: true },
  });
});
afterAll(() => test.drop());

describe('WalletHistoryStore', () => {
  const read = (mostChanges: number) =>
    new WalletHistoryStore(database).read(WALLET, { firstDay: FIRST / 86_400, mostChanges });

  it('has the changes in the order of their blocks, whatever digits they have', async () => {
    const { changes, isCut } = await read(100);
    expect(changes.map(({ block }) => Number(block))).toEqual(BLOCKS);
    expect(changes.at(-1)?.balance).toBe(BigInt(BLOCKS.length));
    expect(isCut).toBe(false);
  });

  it('keeps the newest where there are too many', async () => {
    const { changes, isCut } = await read(2);
    expect(changes.map(({ block }) => Number(block))).toEqual(BLOCKS.slice(-2));
    expect(isCut).toBe(true);
  });
});
