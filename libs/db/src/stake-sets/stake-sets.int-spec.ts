/** Stake sets, and the exchange of the tables of one after it was indexed again. */
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
  excessRights,
  ExchangeBusyError,
  FencedError,
  type IndexState,
  IndexStore,
  KEPT_TABLES,
  migrate,
  missingRights,
  NoIndexBeforeError,
  PartnerStore,
  PriceAcceptanceStore,
  PriceStore,
  type Program,
  PROGRAMS,
  Reindexing,
  StakeSetStore,
} from '../index.js';
import { aMigration } from '../migrations/next-migration.support.js';
import { migrations } from '../migrations/index.js';
import { schemaOf } from '../connection/stake-set.js';

/** Everything that migrations create in a schema, with the name of the default schema. */
const CATALOGUE = {
  text: `SELECT kind, replace(definition, $1::text, 'staking') AS definition FROM (
      SELECT 'column' AS kind, format('%s.%s %s %s %s %s', c.oid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
          pg_get_expr(d.adbin, d.adrelid), a.attidentity) AS definition
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
          LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
        WHERE c.relnamespace = $1::text::regnamespace AND c.relkind IN ('r', 'p', 'v')
      UNION ALL SELECT 'index', pg_get_indexdef(oid) FROM pg_class WHERE relnamespace = $1::text::regnamespace AND relkind IN ('i', 'I')
      UNION ALL SELECT 'partition', format('%s of %s %s', c.oid::regclass, inhparent::regclass, pg_get_expr(c.relpartbound, c.oid))
        FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE c.relnamespace = $1::text::regnamespace
      UNION ALL SELECT 'constraint', format('%s %s', conrelid::regclass, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = $1::text::regnamespace
      UNION ALL SELECT 'trigger', pg_get_triggerdef(g.oid) FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
        WHERE c.relnamespace = $1::text::regnamespace AND NOT g.tgisinternal
      UNION ALL SELECT 'function', pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = $1::text::regnamespace
      UNION ALL SELECT 'comment', format('%s %s %s', c.oid::regclass, d.objsubid, d.description)
        FROM pg_class c JOIN pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass
        WHERE c.relnamespace = $1::text::regnamespace) AS all_of_it
    ORDER BY 1, 2`,
};

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  await migrate(test.url, { stakeSets: ['golf', 'default', 'chess'] });
  database = await test.open();
});
afterAll(() => test.drop());

describe('migrate', () => {
  it('makes for each set what the default one has, and nothing where it is there already', async () => {
    const expected = await database.query(CATALOGUE, ['staking']);
    expect(expected.length).toBeGreaterThan(50);
    for (const schema of ['stakes_golf', 'stakes_chess']) {
      expect(await database.query(CATALOGUE, [schema])).toEqual(expected);
    }
    expect(await migrate(test.url, { stakeSets: ['chess'] })).toEqual([]);
    expect(await new StakeSetStore(database).names()).toEqual(['default', 'chess', 'golf']);
  });

  it('brings sets up to date that are not named, and makes others in the same transaction or not at all', async () => {
    const other = await createTestDatabase();
    try {
      await migrate(other.url, { stakeSets: ['golf'] });
      const opened = await other.open();
      const name = 'Newest9000000000000';
      const statements = ['CREATE TABLE staking.newest (at timestamptz)'];
      const known = [...migrations, aMigration({ name, statements, ofSets: true })];
      await opened.query({ text: 'CREATE SCHEMA stakes_chess' });
      const both = migrate(other.url, { known, stakeSets: ['chess'] });
      await expect(both).rejects.toThrow('stakes_chess');
      const { rows } = await opened.pool.query(
        'SELECT FROM lowmark.stake_set WHERE $1 = ANY (migrations)',
        [name],
      );
      expect(rows).toEqual([]);
      await opened.query({ text: 'DROP SCHEMA stakes_chess' });
      expect(await migrate(other.url, { known })).toEqual([name, `${name} of golf`]);
      await opened.query({ text: 'SELECT FROM stakes_golf.newest' });
    } finally {
      await other.drop();
    }
  });

  it('gives each program its rights on each set, and no more', async () => {
    const programs = new Map<Program, Database>();
    for (const program of PROGRAMS) {
      programs.set(program, await test.open({ url: test.urlAs(program), poolSize: 1 }));
    }
    const excess = async () => {
      const found: string[] = [];
      for (const [program, own] of programs) {
        expect(await missingRights(own, program)).toEqual([]);
        for (const right of await excessRights(own, program)) found.push(`${program}: ${right}`);
      }
      return found;
    };
    expect(await excess()).toEqual([]);
    await database.query({ text: 'GRANT TRUNCATE ON stakes_golf.price TO lowmark_reader' });
    expect(await excess()).toEqual(['api: TRUNCATE on stakes_golf.price']);
    await migrate(test.url);
    expect(await excess()).toEqual([]);
  });
});

describe('a stake set', () => {
  it('that there is not is refused, with those that there are and what to do', async () => {
    await expect(new StakeSetStore(database).open('tennis')).rejects.toMatchObject({
      code: 'STAKE_SET_UNKNOWN',
      retryable: false,
      message: expect.stringMatching(
        /no stake set tennis; it has default, chess, golf\..*STAKE_SETS.*npm run migrate/,
      ),
    });
  });

  it('writes by entities and in transactions to its own tables, and to those that all share', async () => {
    const chess = database.inSet('chess');
    await expect(
      new PriceAcceptanceStore(chess).accept('2', {
        actor: 'operator:test',
        note: { command: 'price accept', outcome: 'accepted' },
      }),
    ).rejects.toMatchObject({ code: 'PRICE_NOT_HELD' });
    await chess.transaction(async (client) => {
      await client.query(
        `INSERT INTO staking.price_acceptance (usd, held_usd, reason, actor) VALUES (2, 2, 'first', 'operator:test')`,
      );
      await client.query(`INSERT INTO partners.partner (name) VALUES ('shared')`);
    });
    expect(await new PriceAcceptanceStore(chess).newest()).toMatchObject({ usd: '2' });
    expect(await new PriceAcceptanceStore(database).newest()).toBeUndefined();
    expect(await new PartnerStore(database).findNamed('shared')).toHaveLength(1);
  });

  it('shares its connections with the others, each statement meaning its own set', async () => {
    const one = await test.open({ poolSize: 1 });
    for (const set of ['default', 'chess', 'golf']) {
      const tokenSymbol = set.toUpperCase();
      await new IndexStore(one.inSet(set)).create(anInitialIndex({ tokenSymbol }));
    }
    for (const set of ['default', 'chess', 'golf', 'chess', 'default']) {
      expect((await new IndexStore(one.inSet(set)).state())?.tokenSymbol).toBe(set.toUpperCase());
    }
    expect(one.connections).toEqual({ idle: 1, busy: 0, waiting: 0 });
  });
});

describe('a partner', () => {
  it('is bound to a set that there is, and back', async () => {
    const partners = new PartnerStore(database);
    const { partnerId } = await partners.create({
      ...{ name: 'golfers', rate: 1, burst: 1, stakeSet: 'golf' },
      credential: { keyHash: Buffer.alloc(32), keyPrefix: 'k', secretCiphertext: Buffer.alloc(1) },
    });
    expect(await partners.findCredential(Buffer.alloc(32))).toMatchObject({ stakeSet: 'golf' });
    await expect(partners.setTerms(partnerId, { stakeSet: 'tennis' })).rejects.toMatchObject({
      code: 'STAKE_SET_UNKNOWN',
    });
    expect(await partners.setTerms(partnerId, { stakeSet: 'default' })).toEqual({
      ...{ rate: 1, burst: 1, stakeSet: 'default' },
    });
    expect(await partners.findCredential(Buffer.alloc(32))).toMatchObject({ stakeSet: 'default' });
  });
});

let indexer: Database;
/** The set that is indexed again. */
let set: string;
let again: Reindexing;
beforeAll(async () => {
  indexer = await test.open({ url: test.urlAs('indexer') });
});

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
