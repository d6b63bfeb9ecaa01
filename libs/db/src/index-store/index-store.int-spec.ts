/**
 * The store of the index. That it does the same as its twin in memory, call by call, with all refusals, is in
 * test/simulation/core/memory/stores.int-spec.ts; here is what single calls of a few wallets do not show.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg, { type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
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
  anIndexOf,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  explained,
  type TestDatabase,
  watchLocks,
} from '#libs/testing/database';
import {
  type Database,
  DatabaseUnavailableError,
  fingerprintOf,
  type IndexBatch,
  IndexReader,
  type IndexSettings,
  IndexStore,
  LeaderLock,
  readIndexSums,
  SnapshotStore,
} from '../index.js';
import { LOCK_STATE } from './index-lead.js';
import { type LeaderTimings } from './leader-lock.js';

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

  it('remembers blocks from the finalised one on', async () => {
    const fence = await started();
    const blocks = [4, 5, 6].map((number) => aBlock(number));
    const head = aBlock(6);
    await store.commit(aBatch({ fence, head, blocks, finalised: aBlock(4) }));
    expect(await store.blocks(0n)).toEqual(blocks);
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

describe('readIndexSums', () => {
  const DAY = 86_400;
  const WALLETS = 7;

  /** Every wallet stakes its number on the first day, and once more on the second. */
  async function anIndex() {
    const blocks = [1, 2].map((number) => ({
      blockNumber: BigInt(number),
      timestampSeconds: (99 + number) * DAY + 60,
      deltas: Array.from({ length: WALLETS }, (_, at) => {
        return { wallet: aWallet(at + 1), amount: BigInt(at + 1) };
      }),
    }));
    const index = await anIndexOf(database, blocks, { previousHead: aBlock(0, 100 * DAY) });
    return { ...index, total: index.folded.totalDelta };
  }

  it.each([3, 7])('adds up all wallets, in pages of %s', async (pageSize) => {
    const { head, total } = await anIndex();
    expect(await readIndexSums(database, undefined, pageSize)).toEqual({
      ...{ stored: total, closings: total, balances: total, wallets: WALLETS },
      head,
    });
  });

  it('reads one state of an index that is written meanwhile', async () => {
    const { store, fence, head, total } = await anIndex();
    const timestampSeconds = 102 * DAY + 90;
    const next = aBlock(3, timestampSeconds);
    let pages = 0;
    let committed: Promise<unknown> | undefined;
    const sums = await readIndexSums(
      database,
      () => {
        pages += 1;
        if (pages !== 2) return;
        const change = { wallet: aWallet(7), balance: 50n, blockNumber: 3n, timestampSeconds };
        const day = { wallet: aWallet(7), day: 102, low: 14n, closing: 50n };
        const folded = aFold({ changes: [change], days: [day], total: 36n });
        committed = store.commit({ fence, previousHead: head, head: next, blocks: [], folded });
      },
      1,
    );
    await committed;
    expect(sums).toMatchObject({ stored: total, closings: total, balances: total, head });
    const after = total + 36n;
    expect(await readIndexSums(database)).toMatchObject({
      ...{ stored: after, closings: after, balances: after },
      head: next,
    });
  });
});

it('a page of changed wallets has each once, in order, and is read by the primary key', async () => {
  const [wallets, changes, limit] = [20_000, 100_000, 100];
  const client = new pg.Client({ connectionString: test.url });
  await client.connect();
  try {
    await client.query(`SET session_replication_role = replica;
      INSERT INTO staking.balance_change (wallet, block, seconds, balance)
        SELECT substring(sha256((n % ${wallets})::text::bytea) FROM 1 FOR 20), n, n, n FROM generate_series(1, ${changes}) AS n`);
    await client.query('VACUUM ANALYZE staking.balance_change_1');
  } finally {
    await client.end();
  }
  const { database: explaining, nodes } = explained(database);
  const page = { above: 0n, block: BigInt(changes), limit };
  const reader = new IndexReader(explaining);
  const first = await reader.changedWallets({ ...page, after: undefined });
  const second = await reader.changedWallets({ ...page, after: first.at(-1) });
  const found = [...first, ...second];
  expect(found).toEqual([...new Set(found)].sort());
  expect(found).toHaveLength(2 * limit);
  expect(nodes.length).toBeGreaterThan(2);
  for (const node of nodes) {
    expect(node['Node Type']).not.toMatch(/Sort|Seq Scan/);
    expect(node['Actual Rows']).toBeLessThan(10 * limit);
  }
});

const settings: IndexSettings = {
  chainId: 31_337,
  stakeContracts: [aWallet(0xa1)],
  tokenContract: aWallet(0xa2),
  startBlock: '1',
  events: [{ event: 'Staked' }],
};
const made = anInitialIndex({ fingerprint: fingerprintOf(settings), settings: { ...settings } });

function aLock(timings?: LeaderTimings): LeaderLock {
  return new LeaderLock({ url: test.url, applicationName: 'leader' }, undefined, timings);
}

describe('LeaderLock', () => {
  it('is held by one at a time, and free after its release', async () => {
    const [first, second] = [aLock(), aLock()];
    expect(await first.tryAcquire()).toBe(true);
    expect(await first.tryAcquire()).toBe(true);
    expect(await second.tryAcquire()).toBe(false);
    expect([first.held, second.held]).toEqual([true, false]);
    await first.release();
    expect(await second.tryAcquire()).toBe(true);
    await second.release();
    await second.release();
  });

  it('tells when it is lost, and can be taken again', async () => {
    const lock = aLock();
    await lock.tryAcquire();
    const database = await test.open();
    await database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leader'`,
    );
    expect(await lock.lost).toMatchObject({ code: '57P01' });
    expect(lock.held).toBe(false);
    expect(await lock.tryAcquire()).toBe(true);
    await lock.release();
  });

  it('is taken from a leader that went silent while its connection lives on', async () => {
    const [silent, next] = [aLock({ heartbeatMs: 3_600_000, silentMs: 200 }), aLock()];
    expect(await silent.tryAcquire()).toBe(true);
    expect(await silent.lost).toMatchObject({ code: '57P05' });
    expect(await next.tryAcquire()).toBe(true);
    expect(await silent.tryAcquire()).toBe(false);
    await next.release();
  });

  it('is taken from its holder by one that waits in line, however many others want it', async () => {
    const holder = aLock();
    const others = [aLock(), aLock()];
    expect(await holder.tryAcquire()).toBe(true);
    const command = aLock();
    const seized = command.seize();
    while (!command.held) {
      // As soon as the lock is free, the waiting one has it.
      for (const other of others) expect(await other.tryAcquire()).toBe(false);
    }
    await seized;
    expect(await holder.lost).toMatchObject({ code: '57P01' });
    expect(await holder.tryAcquire()).toBe(false);
    await command.release();
    expect(await holder.tryAcquire()).toBe(true);
    await holder.release();
    await command.seize();
    expect(command.held).toBe(true);
    await command.release();
  });

  it('stays with a leader whose heart beats, however long it leads', async () => {
    const [leader, other] = [aLock({ heartbeatMs: 50, silentMs: 1500 }), aLock()];
    expect(await leader.tryAcquire()).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(leader.held).toBe(true);
    expect(await other.tryAcquire()).toBe(false);
    await leader.release();
  });

  it('reports a database that is not there', async () => {
    const lock = new LeaderLock({ url: 'postgresql://u:p@127.0.0.1:1/x', applicationName: 'x' });
    await expect(lock.tryAcquire()).rejects.toThrow(DatabaseUnavailableError);
  });
});

/** A transaction that holds the state's row, like that of a program that stops in the middle of a transaction. */
async function holding(): Promise<{ client: PoolClient; ended: Promise<unknown> }> {
  const { pool } = await test.open();
  const client = await pool.connect();
  const ended = new Promise((resolve) => client.once('end', resolve));
  client.on('error', () => undefined);
  await client.query('BEGIN');
  await client.query(LOCK_STATE({}));
  return { client, ended };
}

/** Waits until the server sees that a session waits for its program. */
async function untilAwaited(): Promise<void> {
  const database = await test.open();
  const awaited = {
    text: `SELECT FROM pg_stat_activity
      WHERE wait_event = 'ClientRead' AND xact_start IS NOT NULL AND datname = current_database()`,
  };
  while ((await database.query(awaited)).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('taking the lead', () => {
  beforeEach(() => store.create(made));

  it('does not wait for a program that stopped inside a transaction', async () => {
    const before = await store.takeLead();
    const { client, ended } = await holding();
    await untilAwaited();
    expect(await store.takeLead({ stalledMs: 0 })).toBe(before + 1n);
    await ended;
    client.release(true);
  });

  it('does not wait for one that stopped inside a COPY, which no time limit ends', async () => {
    const before = await store.takeLead();
    const { client, ended } = await holding();
    const copy = client.query(copyFrom('COPY staking.balance_change FROM STDIN'));
    copy.on('error', () => undefined);
    await new Promise((resolve) => client.connection.once('copyInResponse', resolve));
    await untilAwaited();
    expect(await store.takeLead({ stalledMs: 0 })).toBe(before + 1n);
    await ended;
    client.release(true);
  });

  it('leaves a younger transaction its time', async () => {
    const before = await store.takeLead();
    const { client } = await holding();
    const taken = store.takeLead({ stalledMs: 60_000 });
    await client.query('COMMIT');
    expect(await taken).toBe(before + 1n);
    await client.query('SELECT 1');
    client.release();
  });

  it('is refused over an index of other settings, and fences nobody out then', async () => {
    const fence = await store.takeLead({ settings });
    await expect(
      store.takeLead({ settings: { ...settings, startBlock: '7' } }),
    ).rejects.toMatchObject({
      code: 'SETTINGS_CHANGED',
      message: expect.stringContaining('STAKE_START_BLOCK was "1" and is now "7"'),
    });
    await store.halt(fence, 'still the leader');
    expect(await store.takeLead({ settings })).toBe(fence + 1n);
  });
});
