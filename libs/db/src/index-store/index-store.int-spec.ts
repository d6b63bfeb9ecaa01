import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Address,
  type BalanceChange,
  type BlockRef,
  foldBlocks,
  type WalletState,
} from '#libs/domain';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
  watchLocks,
} from '#libs/testing/database';
import {
  type Database,
  DatabaseRefusedError,
  FencedError,
  type IndexBatch,
  IndexMissingError,
  IndexStore,
  SnapshotStore,
  StaleHeadError,
  type WalletBalance,
  walletPages,
} from '../index.js';

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

async function started(): Promise<bigint> {
  await store.create(anInitialIndex());
  return store.takeLead();
}

function aBatch(overrides: Partial<IndexBatch> & { fence: bigint }): IndexBatch {
  return {
    previousHead: aBlock(0),
    head: aBlock(5),
    blocks: [],
    ...overrides,
  };
}

const change = (wallet: number, block: BlockRef, balance: bigint): BalanceChange => ({
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

  it('lets no other process take the lead or write between its first statement and the commit', async () => {
    const fence = await started();
    const watched = watchLocks(database, await test.open(), 'staking.index_state');
    const watchedStore = new IndexStore(watched.database);
    const head = aBlock(5);
    await watchedStore.commit(aBatch({ fence, head }));
    await watchedStore.rollback({ fence, head, to: aBlock(0) });
    expect(watched.held.length).toBeGreaterThan(3);
    expect(watched.held).not.toContain(false);
  });

  it('refuses changes that were computed from another balance than the stored one', async () => {
    const fence = await started();
    const [first, second] = [aBlock(1), aBlock(2)];
    const staked = (block: BlockRef, amount: bigint, states: Map<Address, WalletState>) =>
      foldBlocks(states, [
        {
          ...{ blockNumber: block.number, timestampSeconds: block.timestampSeconds },
          deltas: [1, 2].map((wallet) => ({ wallet: aWallet(wallet), amount })),
        },
      ]);
    const hundred = staked(first, 100n, new Map());
    await store.commit(aBatch({ fence, head: first, folded: hundred }));
    const right = new Map([...hundred.wallets].map(([wallet, { after }]) => [wallet, after]));
    const batch = { fence, previousHead: first, head: second };
    const state = right.get(aWallet(2));
    if (state === undefined) throw new Error('it was folded');
    const wrong: readonly [string, WalletState | undefined][] = [
      ['no history', undefined],
      ['7', { ...state, balance: 7n }],
      ['100', { ...state, low: 7n }],
      ['100', { ...state, sinceSeconds: state.sinceSeconds - 86_400 }],
      ['100', { ...state, sinceSeconds: state.sinceSeconds + 86_400 }],
    ];
    const before = await store.state();
    for (const [stated, one] of wrong) {
      const states = new Map([...right, ...(one ? [[aWallet(2), one] as const] : [])]);
      if (one === undefined) states.delete(aWallet(2));
      const folded = staked(aBlock(2, second.timestampSeconds + 86_400), 5n, states);
      await expect(store.commit(aBatch({ ...batch, folded }))).rejects.toMatchObject({
        code: 'WRONG_WALLET_STATE',
        message: expect.stringContaining(
          `wallet ${aWallet(2)} were computed from ${stated}, but the index holds `,
        ),
      });
    }
    expect(await store.state()).toEqual(before);
    await store.commit(aBatch({ ...batch, folded: staked(second, 5n, right) }));
    const { rows } = await database.pool.query('SELECT low, closing FROM staking.balance_day');
    expect(rows).toEqual([0, 0].map(() => ({ low: '0', closing: '105' })));
  });

  it('keeps the total at the end of each day, also through a rollback', async () => {
    const fence = await started();
    const at = (day: number, number: number) => aBlock(number, day * 86_400 + number);
    const start = await store.state();
    const blocks = [at(20_000, 1), at(20_000, 2), at(20_003, 3), at(20_004, 4)];
    const folded = foldBlocks(
      new Map(),
      blocks.map(({ number, timestampSeconds }) => ({
        ...{ blockNumber: number, timestampSeconds },
        deltas: [{ wallet: aWallet(1), amount: number === 3n ? -2n : 10n }],
      })),
    );
    const head = at(20_004, 4);
    const totals = async (): Promise<unknown> =>
      (await database.pool.query('SELECT day, total FROM staking.day_total ORDER BY day')).rows;
    await store.commit(aBatch({ fence, previousHead: start?.head ?? head, head, folded, blocks }));
    expect(await totals()).toEqual([
      { day: 20_000, total: '20' },
      { day: 20_003, total: '18' },
      { day: 20_004, total: '28' },
    ]);
    await store.rollback({ fence, head, to: at(20_000, 1) });
    expect(await totals()).toEqual([{ day: 20_000, total: '10' }]);
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
        folded: aFold({
          changes: [change(1, head, most)],
          days: [{ wallet: aWallet(1), day, low: 0n, closing: most }],
          total: most,
        }),
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
    const batch = aBatch({
      fence,
      folded: aFold({ changes: [change(1, aBlock(3), 5n)], total: 5n }),
    });
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
      const folded = aFold({ changes: [change(2, aBlock(4), 1n), one], total: 2n });
      const batch = aBatch({ fence, folded });
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

  it('has every wallet once on its pages, with its balance at the end of the block', async () => {
    const fence = await started();
    const wallets = [1, 2, 3, 4, 5, 6];
    // Wallet w changes in every block whose number it divides. Its balance is the block's number.
    for (let number = 1; number <= 6; number++) {
      const [previousHead, head] = [aBlock(number - 1), aBlock(number)];
      const changed = wallets.filter((wallet) => number % wallet === 0);
      const changes = changed.map((wallet) => change(wallet, head, BigInt(number)));
      await store.commit({ fence, previousHead, head, folded: aFold({ changes }), blocks: [] });
    }
    for (const block of [0, 1, 4, 5, 6]) {
      const expected = wallets.map((wallet) => {
        return { wallet: aWallet(wallet), balance: BigInt(Math.floor(block / wallet) * wallet) };
      });
      for (const limit of [1, 2, 4, 100]) {
        const pages: (readonly WalletBalance[])[] = [];
        for await (const page of walletPages(store, { block: BigInt(block), limit })) {
          pages.push(page);
        }
        expect(pages.flat()).toEqual(expected);
        expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
      }
    }
  });
});

describe('the generation of the index', () => {
  const generation = async (): Promise<string | undefined> =>
    (await new SnapshotStore(database).read())?.state.generation;

  async function startedAt(number: number): Promise<bigint> {
    const fence = await started();
    const head = aBlock(number);
    const folded = aFold({ changes: [change(1, head, 5n)], total: 5n });
    await store.commit(aBatch({ fence, head, folded, synced: true }));
    return fence;
  }

  it('stays while blocks are added, facts are noted, and the index halts', async () => {
    const fence = await startedAt(5);
    const before = await generation();
    const [previousHead, head] = [aBlock(5), aBlock(6)];
    const folded = aFold({ changes: [change(1, head, 6n)], total: 1n });
    await store.commit(aBatch({ fence, previousHead, head, folded }));
    await store.commit(aBatch({ fence, previousHead: head, head, finalised: aBlock(4) }));
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

  it.each([
    'DELETE FROM staking.balance_change',
    'TRUNCATE staking.balance_change',
    'UPDATE staking.index_state SET generation = gen_random_uuid()',
  ])('is another after what is done by hand, or by a program that forgets it: %s', async (text) => {
    await startedAt(5);
    const before = await generation();
    await database.query({ text });
    expect(await generation()).not.toBe(before);
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
});
