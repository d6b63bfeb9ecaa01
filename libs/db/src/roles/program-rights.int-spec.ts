import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  type Database,
  DatabaseRefusedError,
  excessRights,
  type Program,
  PROGRAM_ROLES,
  PROGRAMS,
} from '../index.js';
import { rightsOf, SCHEMAS, TABLES } from './rights.js';

let test: TestDatabase;
let owner: Database;
const opened = new Map<Program, Database>();

beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  for (const program of PROGRAMS) {
    opened.set(program, await test.open({ url: test.urlAs(program), poolSize: 1 }));
  }
});
afterAll(() => test.drop());

interface Relation {
  readonly name: string;
  readonly isView: boolean;
  /** Programs name the parent table of a partition. */
  readonly isPartition: boolean;
  readonly column: string;
}

const RELATIONS = `SELECT format('%I.%I', n.nspname, c.relname) AS name, c.relkind = 'v' AS "isView", c.relispartition AS "isPartition",
    (SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum = 1) AS column
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p', 'v', 'm') ORDER BY 1`;

function relations(): Promise<Relation[]> {
  return owner.query<Relation & object>({ text: RELATIONS }, [[...SCHEMAS]]);
}

/** Roles that a session can take: the one that logged in, and every other one that needs no password. */
const WAYS = [
  'SELECT 1',
  'RESET ROLE',
  'SET ROLE NONE',
  'RESET SESSION AUTHORIZATION',
  'RESET ALL',
];

/** The statements are run and rolled back. They write nothing, because they apply to no row. */
function attempts({ name, column, isView }: Relation): Record<string, string> {
  const read = { r: `SELECT FROM ${name} LIMIT 0` };
  if (isView) return read;
  return {
    ...read,
    a: `INSERT INTO ${name} DEFAULT VALUES`,
    w: `UPDATE ${name} SET ${column} = DEFAULT WHERE false`,
    d: `DELETE FROM ${name} WHERE false`,
    TRUNCATE: `TRUNCATE ${name} CASCADE`,
    'DISABLE TRIGGER': `ALTER TABLE ${name} DISABLE TRIGGER ALL`,
    'CREATE TRIGGER': `CREATE TRIGGER mine BEFORE INSERT ON ${name} FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
    DROP: `DROP TABLE ${name} CASCADE`,
    'ADD COLUMN': `ALTER TABLE ${name} ADD COLUMN mine int`,
    GRANT: `GRANT ALL ON ${name} TO PUBLIC`,
  };
}

/**
 * Only a missing right counts as a refusal. Any other error (a constraint, a trigger) comes after the check of rights.
 */
async function mayDo(database: Database, way: string, text: string): Promise<boolean> {
  try {
    await database.transaction(async (client) => {
      await client.query(way);
      const { command } = await client.query(text);
      // PostgreSQL only warns of a GRANT that grants nothing.
      if (command === 'GRANT') {
        const { rows } = await client.query<{ granted: boolean }>(
          `SELECT EXISTS (SELECT FROM pg_class c, aclexplode(c.relacl) a WHERE a.grantee = 0
            AND c.relnamespace::regnamespace::text = ANY ($1)) AS granted`,
          [[...SCHEMAS]],
        );
        if (rows[0]?.granted === true) throw new Error('granted');
        throw new DatabaseRefusedError('42501', new Error('nothing granted'));
      }
      throw new Error('done, and taken back');
    });
    return true;
  } catch (error) {
    return !(error instanceof DatabaseRefusedError && error.sqlState === '42501');
  }
}

describe('the rights of the programs', () => {
  it('are said of every table that there is, and of no other', async () => {
    const named = (await relations()).filter(({ isPartition }) => !isPartition);
    const there = named.map(({ name }) => name);
    expect([...TABLES].sort()).toEqual(there.sort());
  });

  it.each(PROGRAMS)(
    '%s can do with each table what rights.ts says, by whatever way',
    async (program) => {
      const database = opened.get(program) as Database;
      for (const relation of await relations()) {
        for (const way of WAYS) {
          const can: string[] = [];
          for (const [what, text] of Object.entries(attempts(relation))) {
            if (await mayDo(database, way, text)) can.push(what);
          }
          expect({ table: relation.name, way, can }).toEqual({
            table: relation.name,
            way,
            can: ['r', 'a', 'w', 'd'].filter((letter) =>
              (rightsOf(program, relation.name) as readonly string[]).includes(letter),
            ),
          });
        }
      }
    },
  );

  it.each(PROGRAMS)(
    '%s can make nothing, disable no trigger and become no one',
    async (program) => {
      const database = opened.get(program) as Database;
      const others = PROGRAMS.filter((other) => other !== program);
      const statements = [
        'SET session_replication_role = replica',
        'CREATE SCHEMA mine',
        'CREATE ROLE mine',
        'CREATE EXTENSION file_fdw',
        `COPY (SELECT 1) TO PROGRAM 'true'`,
        `SELECT pg_read_file('PG_VERSION')`,
        'SET ROLE lowmark',
        'SET SESSION AUTHORIZATION lowmark',
        'ALTER ROLE CURRENT_USER CREATEROLE',
        ...others.map((other) => `SET ROLE ${PROGRAM_ROLES[other]}`),
        ...others.map((other) => `SET ROLE test_${other}`),
        ...[...SCHEMAS, 'public'].map((schema) => `CREATE TABLE ${schema}.mine (a int)`),
        ...SCHEMAS.map((schema) => `DROP SCHEMA ${schema} CASCADE`),
      ];
      const done: string[] = [];
      for (const text of statements) {
        for (const way of WAYS) {
          if (await mayDo(database, way, text)) done.push(`${way}; ${text}`);
        }
      }
      expect(done).toEqual([]);
    },
  );

  it.each([
    'partners.note_use(uuid)',
    'partners.note_requests(json, bytea)',
    'partners.forget_requests(timestamptz, int, int)',
  ])('leave %s to the api, which may write nothing else', async (routine) => {
    const text = `SELECT has_function_privilege('test_' || p, $2, 'EXECUTE') AS may FROM unnest($1::text[]) p`;
    const rows = await owner.query<{ may: boolean }>({ text }, [[...PROGRAMS], routine]);
    expect(rows.map(({ may }) => may)).toEqual(PROGRAMS.map((program) => program === 'api'));
  });

  it('of the console are those of the cli, and its own schema and the request log', () => {
    const more = TABLES.filter(
      (table) => rightsOf('console', table).join('') !== rightsOf('cli', table).join(''),
    );
    expect(more.filter((table) => !table.startsWith('console.'))).toEqual(['partners.request']);
    for (const table of more) {
      expect(rightsOf('console', table)).toEqual(
        expect.arrayContaining([...rightsOf('cli', table)]),
      );
    }
  });

  it.each(PROGRAMS)('%s has nothing in excess', async (program) => {
    expect(await excessRights(opened.get(program) as Database, program)).toEqual([]);
  });
});
