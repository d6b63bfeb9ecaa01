/** A page of changed wallets is read by the primary key, however many changes there are. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, explained, type TestDatabase } from '#libs/testing/database';
import { type Database, IndexReader } from '../index.js';

const WALLETS = 20_000;
const CHANGES = 5 * WALLETS;
const LIMIT = 100;

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  const client = new pg.Client({ connectionString: test.url });
  await client.connect();
  try {
    await client.query(`SET session_replication_role = replica;
      INSERT INTO staking.balance_change (wallet, block, seconds, balance)
        SELECT substring(sha256((n % ${WALLETS})::text::bytea) FROM 1 FOR 20), n, n, n FROM generate_series(1, ${CHANGES}) AS n`);
    await client.query('VACUUM ANALYZE staking.balance_change_1');
  } finally {
    await client.end();
  }
  database = await test.open();
});
afterAll(() => test.drop());

it('has every changed wallet once, in order, and reads the changes of its own wallets only', async () => {
  const { database: explaining, nodes } = explained(database);
  const page = { above: 0n, block: BigInt(CHANGES), limit: LIMIT };
  const reader = new IndexReader(explaining);
  const first = await reader.changedWallets({ ...page, after: undefined });
  const second = await reader.changedWallets({ ...page, after: first.at(-1) });
  const wallets = [...first, ...second];
  expect(wallets).toEqual([...new Set(wallets)].sort());
  expect(wallets).toHaveLength(2 * LIMIT);
  expect(nodes.length).toBeGreaterThan(2);
  for (const node of nodes) {
    expect(node['Node Type']).not.toMatch(/Sort|Seq Scan/);
    expect(node['Actual Rows']).toBeLessThan(10 * LIMIT);
  }
});
