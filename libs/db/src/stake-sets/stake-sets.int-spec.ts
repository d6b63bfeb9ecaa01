import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anInitialIndex, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  type Database,
  excessRights,
  IndexStore,
  migrate,
  missingRights,
  PartnerStore,
  PriceAcceptanceStore,
  type Program,
  PROGRAMS,
  StakeSetStore,
} from '../index.js';
import { aMigration } from '../migrations/next-migration.support.js';
import { migrations } from '../migrations/index.js';

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
