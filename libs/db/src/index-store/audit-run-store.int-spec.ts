import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
  watchLocks,
} from '#libs/testing/database';
import {
  type AuditComparison,
  type AuditRun,
  AuditRunStore,
  type Database,
  DatabaseRefusedError,
  IndexStore,
} from '../index.js';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-11-20T03:00:00Z');

let test: TestDatabase;
let database: Database;
let runs: AuditRunStore;
let fence: bigint;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  runs = new AuditRunStore(database);
});
beforeEach(async () => {
  await test.empty();
  const store = new IndexStore(database);
  await store.create(anInitialIndex());
  fence = await store.takeLead();
});
afterAll(() => test.drop());

function times(day = 0): Pick<AuditRun, 'startedAt' | 'finishedAt'> {
  const startedAt = new Date(NOW_MS + day * DAY_MS);
  return { startedAt, finishedAt: new Date(startedAt.getTime() + 1500) };
}

function aComparison(change: Partial<AuditComparison> = {}): AuditComparison {
  const block = aBlock(9);
  return {
    ...times(),
    result: 'ok',
    blockNumber: block.number,
    blockHash: block.hash,
    wallets: 3,
    compared: 2,
    differences: 0,
    different: [],
    indexedTotal: 2n ** 256n + 7n,
    contractTotal: 2n ** 256n + 7n,
    sums: { stored: 2n ** 256n + 7n, closings: 2n ** 256n + 7n, balances: 2n ** 256n + 7n },
    ...change,
  };
}

const different = aComparison({
  result: 'different',
  differences: 2,
  different: [
    { wallet: aWallet(1), indexed: 2n ** 255n, contract: 0n },
    { wallet: aWallet(2), indexed: 0n, contract: 1n },
  ],
  contractTotal: 5n,
});

async function count(): Promise<number> {
  const [row] = await database.query<{ count: number }>({
    text: 'SELECT count(*)::int AS count FROM staking.audit_run',
  });
  return row?.count ?? 0;
}

describe('AuditRunStore', () => {
  it.each([
    ['that differs', different],
    [
      'without the contract’s figures',
      aComparison({ compared: undefined, contractTotal: undefined }),
    ],
    [
      'that differs in its sums alone',
      aComparison({
        ...{ result: 'different', compared: undefined, contractTotal: undefined },
        sums: { stored: 5n, closings: 5n, balances: 6n },
      }),
    ],
  ])('gives back a run %s', async (_case, run) => {
    await runs.record(fence, run);
    expect(await runs.last()).toEqual(run);
    expect(await runs.lastComparison()).toEqual(run);
  });

  it('keeps the beginning of a long reason', async () => {
    const none = { ...times(1), result: 'impossible' } as const;
    await runs.record(fence, { ...none, reason: 'x'.repeat(5000) });
    expect(await runs.last()).toEqual({ ...none, reason: 'x'.repeat(2000) });
  });

  it('lets no other process take the lead while it is recorded', async () => {
    const watched = watchLocks(database, await test.open(), 'staking.index_state');
    await new AuditRunStore(watched.database).record(fence, aComparison());
    expect(watched.held).toEqual([true, true, true]);
  });

  it('forgets what is older than a year', async () => {
    for (const day of [0, 366, 367]) await runs.record(fence, aComparison(times(day)));
    expect(await count()).toBe(2);
  });

  it.each([
    ['an agreement with differences', aComparison({ differences: 1 })],
    ['an agreement with another total', aComparison({ contractTotal: 0n })],
    [
      'an agreement with other closings',
      aComparison({ sums: { stored: 5n, closings: 6n, balances: 5n } }),
    ],
    [
      'an agreement with other balances',
      aComparison({ sums: { stored: 5n, closings: 5n, balances: 4n } }),
    ],
    ['a difference without one', aComparison({ result: 'different' })],
  ])('does not take %s', async (_case, run) => {
    await expect(runs.record(fence, run)).rejects.toThrow(DatabaseRefusedError);
  });
});
