import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing';
import { type Database, IndexStore } from '../index.js';

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

const INTEGRITY = { code: '23000' };
const CHECK = { code: '23514' };
const UNIQUE = { code: '23505' };

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

  it.each([
    ['at the indexed head', [1, 10, 1000, 5]],
    ['below it', [1, 9, 1000, 5]],
    ['above it but earlier', [1, 11, 999, 5]],
  ] as [string, Row][])('refuses a row %s', async (_, row) => {
    await expect(run(insert(row))).rejects.toMatchObject(INTEGRITY);
    await expect(run(insert([2, 12, 1010, 1], row))).rejects.toMatchObject(INTEGRITY);
  });

  it('refuses rows of one statement whose times contradict their blocks', async () => {
    await expect(run(insert([1, 11, 1010, 5], [2, 12, 1009, 5]))).rejects.toMatchObject(INTEGRITY);
    await expect(run(insert([1, 11, 1010, 5], [2, 11, 1011, 5]))).rejects.toMatchObject(INTEGRITY);
  });

  it('refuses what lies below rows written before, even where the head has not followed', async () => {
    await run(insert([1, 20, 1100, 5]));
    await expect(run(insert([1, 19, 1090, 5]))).rejects.toMatchObject(INTEGRITY);
    await expect(run(insert([2, 21, 1099, 5]))).rejects.toMatchObject(INTEGRITY);
    await expect(run(moveHead(19, 1100))).rejects.toMatchObject(INTEGRITY);
    await expect(run(moveHead(20, 1099))).rejects.toMatchObject(INTEGRITY);
    await run(moveHead(20, 1100));
  });

  it('refuses a second row for a block, a negative balance, an address that is none', async () => {
    await expect(run(insert([1, 11, 1010, 5], [1, 11, 1010, 6]))).rejects.toMatchObject(UNIQUE);
    await expect(run(insert([1, 11, 1010, -1]))).rejects.toMatchObject(CHECK);
    await expect(
      run(`INSERT INTO staking.balance_change VALUES ('\\x00', 11, 1010, 5)`),
    ).rejects.toMatchObject(CHECK);
    await expect(
      run(`INSERT INTO staking.balance_day VALUES ('\\x${'00'.repeat(20)}', 1, -1, 0)`),
    ).rejects.toMatchObject(CHECK);
  });

  it('refuses edits, and removal from anywhere but the newest end', async () => {
    await run(insert([1, 11, 1010, 5], [2, 12, 1020, 5], [1, 13, 1030, 7]), moveHead(13, 1030));
    await expect(run('UPDATE staking.balance_change SET balance = 1')).rejects.toMatchObject(
      INTEGRITY,
    );
    await expect(run('DELETE FROM staking.balance_change WHERE block = 12')).rejects.toMatchObject(
      INTEGRITY,
    );
    await expect(run(moveHead(12, 1020))).rejects.toMatchObject(INTEGRITY);
    await run('DELETE FROM staking.balance_change WHERE block > 11', moveHead(11, 1010));
    await run(insert([2, 12, 1015, 5]));
  });

  it('refuses a head that is replaced or a fence that goes back', async () => {
    await expect(
      run(`UPDATE staking.index_state SET head_hash = '\\x${'ff'.repeat(32)}'`),
    ).rejects.toMatchObject(INTEGRITY);
    await run('UPDATE staking.index_state SET fence = 3');
    await expect(run('UPDATE staking.index_state SET fence = 2')).rejects.toMatchObject(INTEGRITY);
    await expect(run('UPDATE staking.index_state SET total = -1')).rejects.toMatchObject(CHECK);
  });

  it('holds one index only', async () => {
    await expect(
      run('INSERT INTO staking.index_state SELECT * FROM staking.index_state'),
    ).rejects.toMatchObject(UNIQUE);
  });
});
