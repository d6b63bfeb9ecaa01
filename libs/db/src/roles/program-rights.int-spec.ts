import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/service';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  type Database,
  DatabaseRefusedError,
  excessRights,
  type Program,
  PROGRAM_ROLES,
  PROGRAMS,
} from '../index.js';
import { ExcessRightsError } from './held-rights.js';
import { openOwnDatabase } from './own-database.js';
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

/** The ways that lead to different roles: what a role may do does not depend on how a session came to it. */
async function waysOf(database: Database): Promise<string[]> {
  const ways = new Map<string, string>();
  for (const way of WAYS) {
    const role = await database.transaction(async (client) => {
      await client.query(way);
      const text = `SELECT concat_ws(' ', session_user, current_user, current_setting('is_superuser')) AS role`;
      const { rows } = await client.query<{ role: string }>(text);
      return rows[0]?.role ?? way;
    });
    if (!ways.has(role)) ways.set(role, way);
  }
  return [...ways.values()];
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
      const ways = await waysOf(database);
      for (const relation of await relations()) {
        for (const way of ways) {
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
      const ways = await waysOf(database);
      for (const text of statements) {
        for (const way of ways) {
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

  it.each(PROGRAMS)('%s has nothing in excess', async (program) => {
    expect(await excessRights(opened.get(program) as Database, program)).toEqual([]);
  });
});

const lines: string[] = [];
const logger = createLogger({
  app: 'test',
  level: 'warn',
  destination: { write: (line: string) => void lines.push(line) },
});

const open = (nodeEnv: string, url = test.url) =>
  openOwnDatabase({ program: 'api', nodeEnv, logger }, { url, applicationName: 'own-database' });

async function connections(): Promise<number> {
  const text = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'own-database'`;
  const [row] = await owner.query<{ count: number }>({ text });
  return row?.count ?? -1;
}

describe('the database of a program', () => {
  it('is refused to the owner in production, and nothing of it stays open', async () => {
    await expect(open('production')).rejects.toBeInstanceOf(ExcessRightsError);
    await eventually(async () => (await connections()) === 0);
  });

  it('is opened by the owner elsewhere, who is told', async () => {
    const database = await open('development');
    await database.close();
    expect(lines.join('')).toMatch(
      /"code":"DATABASE_RIGHTS_EXCESSIVE".*docs\/operating\/install\.md#database-users/,
    );
  });

  it('tells of a connection that was lost, without all that hangs on it', async () => {
    const database = await open('production', test.urlAs('api'));
    lines.length = 0;
    await owner.query({
      text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'own-database'`,
    });
    await eventually(() => Promise.resolve(lines.length > 0));
    await database.close();
    const [line = ''] = lines;
    expect(JSON.parse(line)).toMatchObject({
      reason: expect.stringContaining('terminating connection') as unknown,
      msg: 'A database connection was lost',
    });
    expect(line.length).toBeLessThan(300);
  });
});
