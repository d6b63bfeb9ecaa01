/** What the database itself refuses of an index, of runs of the audit, and of prices. */
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
  type Price,
  PriceAcceptanceStore,
  PriceStore,
} from '../index.js';

let test: TestDatabase;
let database: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
});
beforeEach(async () => {
  await test.empty();
  await new IndexStore(database).create(anInitialIndex({ head: aBlock(10, 1000) }));
});
afterAll(() => test.drop());

type Row = readonly [wallet: number, block: number, seconds: number, balance: number];

function insert(...rows: Row[]): string {
  const values = rows.map(
    ([wallet, block, seconds, balance]) =>
      `('\\x${aWallet(wallet).slice(2)}', ${block}, ${seconds}, ${balance})`,
  );
  return `INSERT INTO staking.balance_change VALUES ${values.join(', ')}`;
}

function moveHead(number: number, seconds: number): string {
  const hash = aBlock(number).hash.slice(2);
  return `UPDATE staking.index_state SET head_number = ${number}, head_seconds = ${seconds}, head_hash = '\\x${hash}'`;
}

async function run(...statements: string[]): Promise<void> {
  for (const statement of statements) await database.pool.query(statement);
}

const INTEGRITY = '23000';
const CHECK = '23514';
const UNIQUE = '23505';
const AHEAD = insert([1, 20, 1100, 5]);
const THREE = insert([1, 11, 1010, 5], [2, 12, 1020, 5], [1, 13, 1030, 7]);
const STATE = 'UPDATE staking.index_state SET';

describe('the database itself', () => {
  it('takes rows in the order of blocks and time, and blocks of the same second', async () => {
    await run(insert([1, 11, 1000, 5], [2, 11, 1000, 5], [1, 12, 1000, 6], [1, 14, 1020, 0]));
    await run(moveHead(15, 1030), insert([1, 16, 1030, 1]));
    const { rows } = await database.pool.query(
      `SELECT from_block, to_block, from_seconds, to_seconds, balance FROM staking.balance_interval
       WHERE wallet = '\\x${aWallet(1).slice(2)}' ORDER BY from_block`,
    );
    expect(rows.map((row: Record<string, unknown>) => Object.values(row))).toEqual([
      ['11', '12', '1000', '1000', '5'],
      ['12', '14', '1000', '1020', '6'],
      ['14', '16', '1020', '1030', '0'],
      ['16', null, '1030', null, '1'],
    ]);
  });

  it('follows with its head what was written, and gives back from the newest end', async () => {
    await run(THREE, moveHead(13, 1030));
    await run('DELETE FROM staking.balance_change WHERE block > 11', moveHead(11, 1010));
    await run(insert([2, 12, 1015, 5]), AHEAD, moveHead(20, 1100));
  });

  it.each<[string, string, string, string[]?]>([
    ['a row at the indexed head', INTEGRITY, insert([1, 10, 1000, 5])],
    ['one beside a right row', INTEGRITY, insert([2, 12, 1010, 1], [1, 10, 1000, 5])],
    ['a row below the head', INTEGRITY, insert([1, 9, 1000, 5])],
    ['one beside a right row', INTEGRITY, insert([2, 12, 1010, 1], [1, 9, 1000, 5])],
    ['a row above the head but earlier', INTEGRITY, insert([1, 11, 999, 5])],
    ['one beside a right row', INTEGRITY, insert([2, 12, 1010, 1], [1, 11, 999, 5])],
    ['a later block at an earlier time', INTEGRITY, insert([1, 11, 1010, 5], [2, 12, 1009, 5])],
    ['one block at two times', INTEGRITY, insert([1, 11, 1010, 5], [2, 11, 1011, 5])],
    ['a row below one that was written before', INTEGRITY, insert([1, 19, 1090, 5]), [AHEAD]],
    ['a row earlier than one of before', INTEGRITY, insert([2, 21, 1099, 5]), [AHEAD]],
    ['a head below rows', INTEGRITY, moveHead(19, 1100), [AHEAD]],
    ['a head earlier than rows', INTEGRITY, moveHead(20, 1099), [AHEAD]],
    ['a head that goes back alone', INTEGRITY, moveHead(12, 1020), [THREE, moveHead(13, 1030)]],
    ['an edit', INTEGRITY, 'UPDATE staking.balance_change SET balance = 1', [THREE]],
    [
      'a removal from the middle',
      INTEGRITY,
      'DELETE FROM staking.balance_change WHERE block = 12',
      [THREE],
    ],
    ['a head that is replaced', INTEGRITY, `${STATE} head_hash = '\\x${'ff'.repeat(32)}'`],
    ['a fence that goes back', INTEGRITY, `${STATE} fence = 2`, [`${STATE} fence = 3`]],
    ['a negative total', CHECK, `${STATE} total = -1`],
    ['a negative balance', CHECK, insert([1, 11, 1010, -1])],
    [
      'an address that is none',
      CHECK,
      `INSERT INTO staking.balance_change VALUES ('\\x00', 11, 1010, 5)`,
    ],
    [
      'a negative low',
      CHECK,
      `INSERT INTO staking.balance_day VALUES ('\\x${'00'.repeat(20)}', 1, -1, 0)`,
    ],
    ['a second row for a block', UNIQUE, insert([1, 11, 1010, 5], [1, 11, 1010, 6])],
    ['a second index', UNIQUE, 'INSERT INTO staking.index_state SELECT * FROM staking.index_state'],
  ])('refuses %s', async (_case, code, refused, before = []) => {
    await run(...before);
    await expect(run(refused)).rejects.toMatchObject({ code });
  });
});

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-11-20T03:00:00Z');

let runs: AuditRunStore;
let fence: bigint;
beforeAll(() => {
  runs = new AuditRunStore(database);
});
beforeEach(async () => {
  fence = await new IndexStore(database).takeLead();
});

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

// One call after the other, with each refusal, is compared with the twin in memory by
// test/simulation/core/memory/stores.int-spec.ts.
const FEED = 'chainlink:0x1';

let prices: PriceStore;
beforeAll(() => {
  prices = new PriceStore(database);
});

function aPrice(minute: number, usd: string, source = FEED): Price {
  return { usd, observedAt: new Date(1_700_000_000_000 + minute * 60_000), source };
}

describe('the price that is quoted', () => {
  it('is not held back by one that a wrong clock dated ahead', async () => {
    const ahead = new Date(Date.now() + 3_600_000);
    await prices.record(fence, { ...aPrice(0, '9'), observedAt: ahead });
    expect(await prices.record(fence, aPrice(1, '1'))).toBe(true);
    expect(await prices.newest()).toEqual(aPrice(1, '1'));
  });

  it('leaves the one before where a source tells another figure of the same time: a drift shows', async () => {
    const figures = ['10', '9', '8', '9', '7'];
    for (const usd of figures) expect(await prices.record(fence, aPrice(1, usd))).toBe(true);
    expect(await prices.record(fence, aPrice(1, '7'))).toBe(true);
    expect(await prices.newest()).toEqual(aPrice(1, '7'));
    expect(await prices.standing()).toMatchObject({ lowestUsd: '7', highestUsd: '10' });
    const text = 'SELECT usd FROM staking.price ORDER BY observed_at';
    const rows = await database.query<{ usd: string }>({ text });
    expect(rows.map(({ usd }) => usd)).toEqual(figures);
    expect(await prices.record(fence, aPrice(2, '6'))).toBe(true);
    expect(await prices.record(fence, aPrice(1, '5'))).toBe(false);
  });

  it.each(['0', '-1', 'NaN', 'Infinity'])('is not %s', async (usd) => {
    await expect(prices.record(fence, aPrice(1, usd))).rejects.toMatchObject({ sqlState: '23514' });
  });
});

it('a held price cannot be replaced by the next reading while it is accepted', async () => {
  await database.query({
    text: `INSERT INTO staking.price_hold (reason, max_change, usd, observed_at, source) VALUES ('jump', 0.2, 9, now(), 'fixed')`,
  });
  const watched = watchLocks(database, await test.open(), 'staking.price_hold');
  const note = { command: 'price accept', outcome: 'done' };
  await new PriceAcceptanceStore(watched.database).accept('9', { actor: 'operator:anna', note });
  expect(watched.held).toEqual([true, true, true]);
});
