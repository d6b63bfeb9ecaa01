/** An index of before is partitioned as it stands, and can be put together again. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type QueryRunner } from 'typeorm';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing';
import { type Database, IndexStore, letOlderStart, migrate, PartitionStore } from '../index.js';
import { sqlInSchema } from '../stake-sets/stake-set.js';
import { Partitions1760000000044 } from './partitions.js';

const NAME = 'Partitions1760000000044';
const SETS = ['default', 'golf'] as const;

let test: TestDatabase;
let owner: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  await migrate(test.url, { stakeSets: ['golf'] });
  owner = await test.open();
});
afterAll(() => test.drop());

function schemaOf(set: string): string {
  return set === 'default' ? 'staking' : 'stakes_golf';
}

function runnerIn(set: string): QueryRunner {
  const query = (sql: string) => owner.query({ text: sqlInSchema(sql, schemaOf(set)) });
  return { query } as unknown as QueryRunner;
}

/** Blocks with a change of a hundred wallets each, a block a day. */
async function fill(set: string, from: number, to: number): Promise<IndexStore> {
  const store = new IndexStore(owner.inSet(set));
  const day = (block: number) => aBlock(block, block * 86_400);
  if (from === 1) await store.create(anInitialIndex({ head: day(0) }));
  const fence = await store.takeLead();
  for (let block = from; block <= to; block += 1) {
    const wallets = Array.from({ length: 100 }, (_, place) => aWallet(place + 1));
    const [head, previousHead] = [day(block), day(block - 1)];
    const balance = BigInt(block);
    await store.commit({
      ...{ fence, previousHead, head, blocks: [head] },
      folded: aFold({
        changes: wallets.map((wallet) => ({
          ...{ wallet, blockNumber: head.number, timestampSeconds: head.timestampSeconds, balance },
        })),
        days: wallets.map((wallet) => ({
          ...{ wallet, day: block, low: balance - 1n, closing: balance },
        })),
        total: 100n,
      }),
    });
  }
  return store;
}

function contentOf(set: string): Promise<unknown> {
  return Promise.all(
    ['balance_change', 'balance_day', 'balance_interval'].map((table) =>
      owner.inSet(set).query({ text: `SELECT * FROM staking.${table} ORDER BY 1, 2, 3` }),
    ),
  );
}

function rightsOf(set: string): Promise<unknown> {
  return owner.query(
    {
      text: `SELECT c.relname, (SELECT array_agg(a::text ORDER BY a::text) FROM aclexplode(c.relacl) a) AS rights FROM pg_class c
        WHERE relnamespace = $1::text::regnamespace AND relname IN ('balance_change', 'balance_day', 'balance_interval') ORDER BY 1`,
    },
    [schemaOf(set)],
  );
}

it.each(SETS)('keeps rows, rights and files of the set %s, there and back again', async (set) => {
  const migration = new Partitions1760000000044();
  await fill(set, 1, 20);
  const inParts = [await contentOf(set), await rightsOf(set)];
  const files = {
    text: `SELECT array_agg(pg_relation_filenode(c.oid) ORDER BY c.oid)::text AS files FROM pg_class c
      WHERE relnamespace = '${schemaOf(set)}'::regnamespace AND relname ~ '^balance' AND relkind IN ('r', 'i')`,
  };
  const before = await owner.query(files);
  await migration.down(runnerIn(set));
  expect([await contentOf(set), await rightsOf(set)]).toEqual(inParts);
  expect(await owner.query(files)).toEqual(before);
  await fill(set, 21, 40);
  const plain = [await contentOf(set), await rightsOf(set)];
  await migration.up(runnerIn(set));
  expect([await contentOf(set), await rightsOf(set)]).toEqual(plain);
  // Nothing was copied.
  expect(await owner.query(files)).toEqual(before);
  await fill(set, 41, 60);
});

it.each(SETS)('puts several partitions of the set %s together', async (set) => {
  await owner.query({
    text: `CREATE OR REPLACE FUNCTION ${schemaOf(set)}.partition_bytes() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 131072::bigint'`,
  });
  const partitions = new PartitionStore(owner.inSet(set));
  const added = new Set<string>();
  let head = 60;
  while (added.size < 2) {
    const store = await fill(set, head + 1, head + 5);
    head += 5;
    const outcomes = await partitions.extend(await store.takeLead());
    for (const [table, outcome] of Object.entries(outcomes))
      if (outcome === 'added') added.add(table);
  }
  await fill(set, head + 1, head + 100);
  const inParts = [await contentOf(set), await rightsOf(set)];
  const migration = new Partitions1760000000044();
  await migration.down(runnerIn(set));
  expect([await contentOf(set), await rightsOf(set)]).toEqual(inParts);
  await migration.up(runnerIn(set));
  expect([await contentOf(set), await rightsOf(set)]).toEqual(inParts);
});

it('lets an older program start, except while a partition is being added', async () => {
  await owner.query({
    text: 'ALTER TABLE stakes_golf.balance_day_1 ADD CONSTRAINT below_next CHECK (day < 99999) NOT VALID',
  });
  await expect(letOlderStart(test.url, [NAME])).rejects.toMatchObject({ code: 'OLDER_REFUSED' });
  await owner.query({ text: 'ALTER TABLE stakes_golf.balance_day_1 DROP CONSTRAINT below_next' });
  await letOlderStart(test.url, [NAME]);
});
