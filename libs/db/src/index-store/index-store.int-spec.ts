import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type BlockRef } from '#libs/domain';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing';
import {
  DatabaseRefusedError,
  FencedError,
  StaleHeadError,
  type IndexBatch,
  IndexMissingError,
  IndexStore,
} from '../index.js';

let test: TestDatabase;
let store: IndexStore;

beforeAll(async () => {
  test = await createTestDatabase();
  store = new IndexStore(await test.open());
});
beforeEach(() => test.empty());
afterAll(() => test.drop());

async function started(): Promise<bigint> {
  await store.create(anInitialIndex());
  return store.takeLead();
}

function aBatch(overrides: Partial<IndexBatch> & { fence: bigint }): IndexBatch {
  return {
    previousHead: aBlock(0),
    head: aBlock(5),
    changes: [],
    days: [],
    total: 0n,
    blocks: [],
    ...overrides,
  };
}

const change = (
  wallet: number,
  block: BlockRef,
  balance: bigint,
): IndexBatch['changes'][number] => ({
  wallet: aWallet(wallet),
  blockNumber: block.number,
  timestampSeconds: block.timestampSeconds,
  balance,
});

describe('IndexStore', () => {
  it('has no state at first, and is created once', async () => {
    expect(await store.state()).toBeUndefined();
    await expect(store.takeLead()).rejects.toThrow(IndexMissingError);
    const initial = anInitialIndex();
    const state = await store.create(initial);
    expect(state).toEqual({
      ...initial,
      fence: 0n,
      finalised: undefined,
      verifiedNumber: undefined,
      total: 0n,
      rollbacks: 0n,
      syncedAt: undefined,
      halted: undefined,
    });
    expect(await store.create(anInitialIndex({ fingerprint: 'another' }))).toEqual(state);
  });

  it('writes days that are certainly new as it writes others', async () => {
    const fence = await started();
    const days = [
      { wallet: aWallet(1), day: 20_000, low: 3n, closing: 5n },
      { wallet: aWallet(2), day: 20_000, low: null, closing: 2n ** 256n - 1n },
    ];
    const { pool } = await test.open();
    const rows = async (): Promise<unknown> => {
      const text = `SELECT encode(wallet, 'hex') AS wallet, day, low, closing FROM staking.balance_day ORDER BY wallet`;
      return (await pool.query(text)).rows;
    };
    await store.commit(aBatch({ fence, days }));
    const upserted = await rows();
    await test.empty();
    await store.commit(aBatch({ fence: await started(), days: [], newDays: days }));
    expect(await rows()).toEqual(upserted);
    const again = aBatch({ fence: 1n, previousHead: aBlock(5), head: aBlock(6), newDays: days });
    await expect(store.commit(again)).rejects.toThrow(DatabaseRefusedError);
  });

  it('keeps the largest amounts exactly', async () => {
    const fence = await started();
    const most = 2n ** 256n - 1n;
    const head = aBlock(5);
    const day = Math.floor(head.timestampSeconds / 86_400);
    await store.commit(
      aBatch({
        fence,
        head,
        changes: [change(1, head, most)],
        days: [{ wallet: aWallet(1), day, low: 0n, closing: most }],
        total: most,
      }),
    );
    expect((await store.state())?.total).toBe(most);
    const both = [aWallet(1), aWallet(2)];
    expect(await store.walletStates(both, day)).toEqual(
      new Map([[aWallet(1), { balance: most, sinceSeconds: head.timestampSeconds, low: 0n }]]),
    );
    const atMidnight = (day + 1) * 86_400 - 1;
    expect(await store.walletStates(both, day + 1)).toEqual(
      new Map([[aWallet(1), { balance: most, sinceSeconds: atMidnight, low: 0n }]]),
    );
    expect(await store.balancesAt([aWallet(2), aWallet(1)], 5n)).toEqual([0n, most]);
    expect(await store.balancesAt([aWallet(1)], 4n)).toEqual([0n]);
    expect(await store.sampleWallets(8)).toEqual([aWallet(1)]);
  });

  it('refuses a leader that another has followed', async () => {
    const old = await started();
    const fence = await store.takeLead();
    const batch = aBatch({ fence: old });
    await expect(store.commit(batch)).rejects.toThrow(FencedError);
    const to = aBlock(0);
    await expect(store.rollback({ fence: old, head: to, to })).rejects.toThrow(FencedError);
    await expect(store.halt(old, 'no')).rejects.toThrow(FencedError);
    await expect(store.clearHalt(old)).rejects.toThrow(FencedError);
    await store.commit({ ...batch, fence });
  });

  it('refuses to build on another head, by number or by hash', async () => {
    const fence = await started();
    for (const previousHead of [aBlock(1), aBlock(0, undefined, 7)]) {
      const commit = store.commit(aBatch({ fence, previousHead }));
      await expect(commit).rejects.toThrow(StaleHeadError);
      await expect(store.rollback({ fence, head: previousHead, to: aBlock(0) })).rejects.toThrow(
        StaleHeadError,
      );
    }
  });

  it('lets one of two commits on the same head through', async () => {
    const fence = await started();
    const batch = aBatch({ fence, changes: [change(1, aBlock(3), 5n)], total: 5n });
    const results = await Promise.allSettled([store.commit(batch), store.commit(batch)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results).toContainEqual(expect.objectContaining({ reason: expect.any(StaleHeadError) }));
    expect(await store.balancesAt([aWallet(1)], 5n)).toEqual([5n]);
  });

  it('writes nothing of a batch that contradicts the index', async () => {
    const fence = await started();
    const before = await store.state();
    const wrong = [change(1, aBlock(0), 1n), change(1, aBlock(6), 1n), change(1, aBlock(3), -1n)];
    for (const one of wrong) {
      const batch = aBatch({ fence, changes: [change(2, aBlock(4), 1n), one], total: 2n });
      await expect(store.commit(batch)).rejects.toThrow(DatabaseRefusedError);
    }
    expect(await store.state()).toEqual(before);
    expect(await store.sampleWallets(3)).toEqual([]);
  });

  it('remembers blocks from the finalised one on', async () => {
    const fence = await started();
    const blocks = [1, 2, 3, 4, 5].map((number) => aBlock(number));
    await store.commit(aBatch({ fence, blocks }));
    expect(await store.blocks(3n)).toEqual(blocks.slice(2));
    const head = aBlock(6);
    await store.commit(
      aBatch({ fence, previousHead: aBlock(5), head, blocks: [head], finalised: aBlock(4) }),
    );
    expect(await store.blocks(0n)).toEqual([aBlock(4), aBlock(5), head]);
    // A node that is behind the others reports an older finalised block. Finality does not go back.
    await store.commit(
      aBatch({
        fence,
        previousHead: head,
        head: aBlock(7),
        blocks: [aBlock(7)],
        finalised: aBlock(2),
      }),
    );
    expect((await store.state())?.finalised).toEqual(aBlock(4));
    // During a first sync the finalised block is ahead of the indexed ones, so no block has to be remembered.
    await store.commit(
      aBatch({
        fence,
        previousHead: aBlock(7),
        head: aBlock(8),
        blocks: [aBlock(8)],
        finalised: aBlock(90),
      }),
    );
    expect(await store.blocks(0n)).toEqual([]);
  });

  it('notes facts without a new block', async () => {
    const fence = await started();
    const head = aBlock(0);
    await store.commit(aBatch({ fence, head, synced: true, verifiedNumber: 0n }));
    expect(await store.state()).toMatchObject({
      head,
      verifiedNumber: 0n,
      syncedAt: expect.any(Date),
    });
  });

  it('notes a halt and clears it', async () => {
    const fence = await started();
    await store.halt(fence, 'deeper than finality');
    expect((await store.state())?.halted).toEqual({
      at: expect.any(Date),
      reason: 'deeper than finality',
    });
    await store.clearHalt(fence);
    expect((await store.state())?.halted).toBeUndefined();
  });
});
