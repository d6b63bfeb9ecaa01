import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
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
