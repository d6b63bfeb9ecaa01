import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import {
  type Database,
  ExchangeBusyError,
  FencedError,
  type IndexState,
  IndexStore,
  KEPT_TABLES,
  migrate,
  NoIndexBeforeError,
  PriceStore,
  Reindexing,
} from '../index.js';
import { schemaOf } from '../connection/stake-set.js';

let test: TestDatabase;
let database: Database;
let indexer: Database;
/** The set that is indexed again. */
let set: string;
let again: Reindexing;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  await migrate(test.url, { stakeSets: ['golf'] });
  indexer = await test.open({ url: test.urlAs('indexer') });
});
afterAll(() => test.drop());

/** An index of this set, beside which another one is to be made. */
async function begin(ofSet: string): Promise<void> {
  set = ofSet;
  const schema = schemaOf(set);
  for (const part of ['next', 'before'] as const) {
    await database.query({ text: `DROP SCHEMA IF EXISTS ${schemaOf(set, part)} CASCADE` });
  }
  await database.query({
    text: `TRUNCATE ${schema}.index_state, ${schema}.balance_change, ${schema}.balance_day, ${schema}.day_total, ${schema}.sealed_day, ${schema}.sealed_leaves, ${schema}.sealed_nodes, ${schema}.seal_recheck, ${schema}.price`,
  });
  again = new Reindexing(test.url, set, 2);
  await index(indexer.inSet(set), 7n);
  await again.make();
}

/** An index of one block in which one wallet stakes. */
async function index(into: Database, balance: bigint): Promise<bigint> {
  const store = new IndexStore(into);
  const { head: previousHead } = await store.create(anInitialIndex());
  const fence = await store.takeLead();
  const head = aBlock(1);
  const { timestampSeconds } = head;
  const change = { wallet: aWallet(1), blockNumber: 1n, timestampSeconds, balance };
  const folded = aFold({ changes: [change], total: balance });
  const batch = { fence, previousHead, head, folded, blocks: [head] };
  await store.commit({ ...batch, finalised: head, synced: true });
  return fence;
}

async function inUse(): Promise<IndexState> {
  const state = await new IndexStore(indexer.inSet(set)).state();
  if (state === undefined) throw new Error('there is an index');
  return state;
}

const balance = async (): Promise<bigint | undefined> =>
  (await new IndexStore(indexer.inSet(set)).balancesAt([aWallet(1)], 1n))[0];

/** Tables, partitions, views, triggers and rights of the set, without the names of functions' schemas. */
async function shape(): Promise<unknown[]> {
  const schema = schemaOf(set);
  return database.query({
    text: `SELECT c.relname, c.relkind, coalesce(c.relacl, acldefault('r', c.relowner))::text AS acl, ARRAY(SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t
          WHERE t.tgrelid = c.oid AND NOT t.tgisinternal ORDER BY t.tgname) AS triggers,
        CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) END AS view
      FROM pg_class c WHERE relnamespace = '${schema}'::regnamespace AND relkind IN ('r', 'p', 'v', 'i', 'I', 'S') ORDER BY 1`,
  });
}

describe.each(['default', 'golf'])('indexing %s again', (of) => {
  beforeEach(() => begin(of));

  it('exchanges the tables that are derived from the chain, and no others', async () => {
    await index(indexer.inSet(set, 'next'), 9n);
    await new PriceStore(database.inSet(set)).add({
      ...{ usd: '2', observedAt: new Date(), source: 'fixed' },
    });
    const [before, old] = [await shape(), await inUse()];
    await again.exchange();
    expect(await balance()).toBe(9n);
    expect(await shape()).toEqual(before);
    expect((await inUse()).fence).toBeGreaterThan(old.fence);
    expect(await new PriceStore(indexer.inSet(set)).newest()).toMatchObject({ usd: '2' });
    expect(await again.standing()).toEqual({ next: undefined, before: expect.any(Date) });
    await again.undo();
    expect(await balance()).toBe(7n);
    expect(await shape()).toEqual(before);
    expect((await inUse()).fence).toBeGreaterThan(old.fence + 1n);
    expect(await again.standing()).toEqual({ next: undefined, before: undefined });
  });

  it('leaves no program of the index before able to write, and makes another version for caches', async () => {
    await index(indexer.inSet(set, 'next'), 9n);
    const old = await inUse();
    const generation = { text: 'SELECT generation FROM staking.index_state' };
    const before = await indexer.inSet(set).query(generation);
    await again.exchange();
    expect(await indexer.inSet(set).query(generation)).not.toEqual(before);
    const head = aBlock(2);
    const store = new IndexStore(indexer.inSet(set));
    const commit = store.commit({
      fence: old.fence,
      previousHead: old.head,
      head,
      blocks: [],
    });
    await expect(commit).rejects.toThrow(FencedError);
  });
});

// The programs run with the default set in test/reindexing.
describe('indexing a set again', () => {
  beforeEach(() => begin('golf'));

  it('has sealed days calculated again, from the first one on', async () => {
    await index(indexer.inSet(set, 'next'), 9n);
    await database.query({
      text: `INSERT INTO ${schemaOf(set)}.sealed_day (day, revision, root, wallets, total, block_number, block_hash, software)
      SELECT day, 1, decode(repeat('0a', 32), 'hex'), 0, 0, 1, decode(repeat('0b', 32), 'hex'), 'test' FROM generate_series(20000, 20002) AS day`,
    });
    const recheck = { text: `SELECT from_day FROM ${schemaOf(set)}.seal_recheck` };
    await again.exchange();
    expect(await database.query(recheck)).toEqual([{ from_day: 20_000 }]);
    await database.query({ text: `DELETE FROM ${schemaOf(set)}.seal_recheck` });
    await again.undo();
    expect(await database.query(recheck)).toEqual([{ from_day: 20_000 }]);
  });

  it('changes nothing while there is no new index, or while a transaction reads the old one', async () => {
    await expect(again.exchange()).rejects.toMatchObject({ code: 'INDEX_MISSING' });
    expect(await balance()).toBe(7n);
    await index(indexer.inSet(set, 'next'), 9n);
    const reader = await database.pool.connect();
    await reader.query(`BEGIN; SELECT FROM ${schemaOf(set)}.balance_change`);
    const exchange = again.exchange();
    const refused = expect(exchange).rejects.toThrow(ExchangeBusyError);
    // Readers and writers go on meanwhile.
    expect(await balance()).toBe(7n);
    await refused;
    await reader.query('COMMIT');
    reader.release();
    expect(await balance()).toBe(7n);
    await again.exchange();
    expect(await balance()).toBe(9n);
  });

  it('removes the new index, or the one before, when told', async () => {
    expect(await again.undo()).toBe('removed');
    expect(await again.standing()).toEqual({ next: undefined, before: undefined });
    await expect(again.undo()).rejects.toThrow(NoIndexBeforeError);
    await expect(again.remove('before')).rejects.toThrow(NoIndexBeforeError);
    await again.make();
    await index(indexer.inSet(set, 'next'), 9n);
    await again.exchange();
    await again.remove('before');
    expect(await balance()).toBe(9n);
    // The triggers still guard the tables: a change is never edited.
    const edit = { text: `UPDATE ${schemaOf(set)}.balance_change SET balance = 1` };
    await expect(database.query(edit)).rejects.toMatchObject({ code: 'DATABASE_REFUSED' });
    await again.make();
    await index(indexer.inSet(set, 'next'), 11n);
    await again.exchange();
    expect(await balance()).toBe(11n);
  });

  it('does not go back to an index of an older version', async () => {
    await index(indexer.inSet(set, 'next'), 9n);
    await again.exchange();
    await database.query({
      text: `COMMENT ON SCHEMA ${schemaOf(set, 'before')} IS '{"migrations":["Earlier1769999999999"],"at":"2026-01-01T00:00:00Z"}'`,
    });
    await expect(again.undo()).rejects.toMatchObject({ code: 'INDEX_OUTDATED' });
    expect(await balance()).toBe(9n);
  });
});

it('knows of each table of a set whether it is derived from the chain', async () => {
  const tables = await database.query<{ name: string }>({
    text: `SELECT relname AS name FROM pg_class WHERE relnamespace = 'staking'::regnamespace AND relkind IN ('r', 'p', 'v')
      AND NOT relispartition ORDER BY 1`,
  });
  const names = tables.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...KEPT_TABLES]));
  expect(names.filter((name) => !KEPT_TABLES.includes(name))).toEqual([
    'balance_change',
    'balance_day',
    'balance_interval',
    'block',
    'day_total',
    'finding',
    'index_state',
  ]);
});
