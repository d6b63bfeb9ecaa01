import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing';
import { type Database, type IndexBatch, IndexStore, SnapshotStore } from '../index.js';

let test: TestDatabase;
let database: Database;
let store: IndexStore;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  store = new IndexStore(database);
});
beforeEach(() => test.empty());
afterAll(() => test.drop());

async function generation(): Promise<string | undefined> {
  return (await new SnapshotStore(database).read())?.state.generation;
}

async function startedAt(head: number): Promise<bigint> {
  await store.create(anInitialIndex());
  const fence = await store.takeLead();
  await store.commit(aBatch(fence, 0, head));
  return fence;
}

function aBatch(fence: bigint, from: number, to: number): IndexBatch {
  const [previousHead, head] = [aBlock(from), aBlock(to)];
  const { number: blockNumber, timestampSeconds } = head;
  const changes = [{ wallet: aWallet(1), blockNumber, timestampSeconds, balance: BigInt(to) }];
  const folded = aFold({ changes, total: BigInt(to - from) });
  return { fence, previousHead, head, folded, blocks: [], synced: true };
}

describe('the generation of the index', () => {
  it('stays while blocks are added, facts are noted, and the index halts', async () => {
    const fence = await startedAt(5);
    const before = await generation();
    await store.commit(aBatch(fence, 5, 6));
    const [previousHead, head] = [aBlock(6), aBlock(6)];
    await store.commit({ fence, previousHead, head, blocks: [], finalised: aBlock(4) });
    await store.halt(fence, 'a reason');
    await store.clearHalt(fence);
    expect(await generation()).toBe(before);
  });

  it('is another after a rollback, also one that takes no change back', async () => {
    const fence = await startedAt(5);
    const seen = new Set([await generation()]);
    await store.rollback({ fence, head: aBlock(5), to: aBlock(4) });
    seen.add(await generation());
    await store.rollback({ fence, head: aBlock(4), to: aBlock(2) });
    seen.add(await generation());
    expect(seen.size).toBe(3);
  });

  it('is another where a program takes changes back and forgets all else', async () => {
    await startedAt(5);
    const before = await generation();
    await database.pool.query('DELETE FROM staking.balance_change');
    const after = await generation();
    expect(after).not.toBe(before);
    await database.pool.query('TRUNCATE staking.balance_change');
    expect(await generation()).not.toBe(after);
  });

  it('is another under each leader, and for an index that is made again', async () => {
    await startedAt(5);
    const before = await generation();
    await store.takeLead();
    const led = await generation();
    expect(led).not.toBe(before);
    await test.empty();
    await startedAt(5);
    expect([before, led]).not.toContain(await generation());
  });

  it('can be renewed by hand', async () => {
    await startedAt(5);
    const before = await generation();
    await database.pool.query('UPDATE staking.index_state SET generation = gen_random_uuid()');
    expect(await generation()).not.toBe(before);
  });
});
