/** Compares the entities with the database. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type PoolClient } from 'pg';
import { type DataSource, type EntityMetadata } from 'typeorm';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { entities } from './migrations/create-database.js';
import { createDatabase, type Database, migrate, readSchema } from './index.js';
import { migrations } from './migrations/index.js';
import { aMigration } from './migrations/next-migration.support.js';
import {
  SchemaNewerError,
  SchemaOlderError,
  SchemaUnsupportedError,
} from './migrations/schema-check.js';
import { letOlderStart } from './stake-sets/migrate.js';

/** $1 is a table. Constraints: p primary key, u unique, f foreign key. */
const COLUMNS = {
  text: `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS "isNullable",
      pg_get_expr(d.adbin, d.adrelid) AS default, a.attidentity = 'a' AS "isIdentity"
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
    WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1`,
};
const CONSTRAINTS = {
  text: `SELECT contype AS kind, coalesce((SELECT format('%I.%I', n.nspname, c.relname)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = confrelid), '-') AS "refersTo",
      ARRAY(SELECT a.attname::text FROM unnest(conkey) WITH ORDINALITY AS k(number, place)
        JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.number ORDER BY k.place) AS columns
    FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u', 'f') ORDER BY 1, 3`,
};

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly default: string | null;
  readonly isIdentity: boolean;
}

interface Constraint {
  readonly kind: string;
  readonly refersTo: string;
  readonly columns: readonly string[];
}

/** Removes the cast: `'{}'::jsonb` and `'{}'` have the same text. */
function plainDefault(expression: string | undefined | null): string | null {
  return expression?.replace(/^'(.*)'(::[\w\s[\]]+)?$/, '$1') ?? null;
}

async function tableOf(database: Database, table: string) {
  const columns = await database.query<Column & object>(COLUMNS, [table]);
  const constraints = await database.query<Constraint & object>(CONSTRAINTS, [table]);
  return {
    columns: columns.map((column) => ({ ...column, default: plainDefault(column.default) })),
    constraints,
  };
}

function expectedTable({ driver }: DataSource, entity: EntityMetadata) {
  const columns = entity.columns.map((column): Column => {
    const { precision, scale, isArray, isGenerated, generationStrategy } = column;
    const digits = precision == null ? '' : `(${precision},${scale ?? 0})`;
    const isUuid = isGenerated && generationStrategy === 'uuid';
    return {
      name: column.databaseName,
      type: `${driver.normalizeType(column)}${digits}${isArray ? '[]' : ''}`,
      isNullable: column.isNullable,
      default: isUuid ? 'gen_random_uuid()' : plainDefault(driver.normalizeDefault(column)),
      isIdentity: column.generatedIdentity === 'ALWAYS',
    };
  });
  const names = (of: readonly { databaseName: string }[]) =>
    of.map(({ databaseName }) => databaseName);
  const primary = names(entity.primaryColumns);
  const uniques = entity.uniques.map((unique) => names(unique.columns));
  const constraints: Constraint[] = [
    ...entity.foreignKeys.map((key) => ({
      kind: 'f',
      refersTo: key.referencedEntityMetadata.tablePath,
      columns: names(key.columns),
    })),
    { kind: 'p', refersTo: '-', columns: primary },
    ...uniques
      // The primary key already makes the columns of a one-to-one relation unique.
      .filter((unique) => unique.join() !== primary.join())
      .map((unique) => ({ kind: 'u', refersTo: '-', columns: unique })),
  ];
  return { columns: columns.sort((a, b) => (a.name < b.name ? -1 : 1)), constraints };
}

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
});
afterAll(() => test.drop());

describe('the schema', () => {
  it.each(entities.map((entity) => [entity.name, entity] as const))(
    'has the table of %s as the entity says',
    async (_name, entity) => {
      const metadata = database.dataSource.getMetadata(entity);
      expect(await tableOf(database, metadata.tablePath)).toEqual(
        expectedTable(database.dataSource, metadata),
      );
    },
  );
});

describe('migrations', () => {
  const ALL = ['Schema1770000000000', 'Staking1770000000001'];
  const HARMLESS = 'Tomorrow9000000000000';
  const HARD = 'DayAfter9000000000001';

  let test: TestDatabase;
  /** Opens whatever the schema is. */
  let database: Database;
  beforeEach(async () => {
    test = await createTestDatabase();
    database = await test.open({ schema: 'any', poolSize: 3 });
  });
  afterEach(() => test.drop());

  /** Records migrations that a newer program has applied. */
  async function record(...names: string[]): Promise<void> {
    for (const name of names) {
      const text = 'INSERT INTO lowmark.migration (timestamp, name) VALUES (9000000000000, $1)';
      await database.query({ text }, [name]);
    }
  }

  async function withoutMigration(name: string): Promise<void> {
    await database.query({ text: 'DELETE FROM lowmark.migration WHERE name LIKE $1' }, [
      `${name}%`,
    ]);
  }

  function openService(url = test.url) {
    return createDatabase({ url, applicationName: 'service', schema: 'current' });
  }

  describe('migrate', () => {
    it('tells an owner without the right to the reading role what an administrator has to do', async () => {
      const empty = await createTestDatabase('empty');
      const admin = await empty.open();
      const user = `owner_${randomBytes(4).toString('hex')}`;
      const url = new URL(empty.url);
      [url.username, url.password] = [user, 'x'];
      await admin.query({ text: `CREATE ROLE ${user} LOGIN PASSWORD 'x'` });
      await admin.query({ text: `GRANT ALL ON DATABASE ${empty.name} TO ${user}` });
      await expect(migrate(url.href)).rejects.toThrow(
        `let an administrator run GRANT lowmark_reader TO ${user}`,
      );
      await admin.query({ text: `GRANT lowmark_reader TO ${user}` });
      expect(await migrate(url.href)).toEqual(ALL);
      expect(await migrate(url.href)).toEqual([]);
      const reader = await empty.open({ url: url.href, readOnly: true });
      const read = {
        text: 'SELECT current_user::text AS role, count(*)::int AS rows FROM staking.price',
      };
      expect(await reader.query(read)).toEqual([{ role: 'lowmark_reader', rows: 0 }]);
      await admin.query({ text: `DROP OWNED BY ${user}` });
      await admin.query({ text: `DROP ROLE ${user}` });
      await empty.drop();
    });
  });

  describe('migrate on a table in use', () => {
    const LAST = 'Last9000000000000';
    const statements = ['ALTER TABLE partners.partner ADD COLUMN last int NOT NULL DEFAULT 0'];
    const known = [...migrations, aMigration({ name: LAST, statements })];
    const WAITING = {
      text: `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lowmark migrate'
    AND wait_event = 'relation'`,
    };
    const READ = { text: 'SELECT count(*)::int AS count FROM partners.partner' };

    /** Reads the table that the migration has to change, in a transaction that does not end by itself. */
    let holder: PoolClient;
    beforeEach(async () => {
      holder = await database.pool.connect();
      await holder.query('BEGIN');
      await holder.query(READ.text);
    });

    it('waits a little at a time, lets others at it in between, and is done once it is free', async () => {
      const migrating = migrate(test.url, { known });
      while ((await database.query(WAITING)).length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const second = migrate(test.url, { known });
      // The read queues behind the waiting migration, but is served within a reader's time limit.
      for (let reads = 0; reads < 3; reads++) expect(await database.query(READ)).toHaveLength(1);
      await holder.query('COMMIT');
      holder.release();
      expect(await migrating).toEqual([LAST]);
      expect(await second).toEqual([]);
    });

    it('tries again where it had to give way in a deadlock', async () => {
      await holder.query('COMMIT');
      holder.release();
      // The test raises the error itself, because the server may choose either side of a deadlock as its victim.
      await database.query({
        text: `CREATE SEQUENCE public.attempt;
        CREATE FUNCTION public.deadlock() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('public.attempt') = 1 THEN RAISE deadlock_detected; END IF;
        END $$;
        CREATE EVENT TRIGGER deadlock ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION public.deadlock()`,
      });
      expect(await migrate(test.url, { known, tries: 2 })).toEqual([LAST]);
    });

    it('gives up in the end, and has changed nothing', async () => {
      await expect(migrate(test.url, { known, tries: 1 })).rejects.toMatchObject({
        code: 'SCHEMA_BUSY',
        retryable: true,
        message: expect.stringContaining('pg_stat_activity'),
      });
      await holder.query('COMMIT');
      holder.release();
      expect((await readSchema(database, known)).missing).toEqual([LAST]);
    });
  });

  describe('a database that a newer program has migrated', () => {
    it('is refused by services, the reading ones too, with what to do', async () => {
      await record(HARMLESS);
      for (const readOnly of [false, true]) {
        const opening = createDatabase({ url: test.url, applicationName: 'service', readOnly });
        await expect(opening).rejects.toThrow(SchemaNewerError);
        await expect(opening).rejects.toThrow(
          `migrated by a newer version of this program (${HARMLESS}). Start that version`,
        );
      }
      const text = `SELECT FROM pg_stat_activity
      WHERE application_name = 'service' AND datname = current_database()`;
      // The server ends a session a moment after its client has left.
      await eventually(async () => (await database.query({ text })).length === 0);
      expect(await readSchema(database)).toEqual({
        unknown: [HARMLESS],
        accepted: [],
        missing: [],
      });
    });

    it('is refused by migrate, which changes nothing', async () => {
      await record(HARMLESS);
      await withoutMigration('Staking');
      await expect(migrate(test.url)).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
      const { unknown, missing } = await readSchema(database);
      expect(unknown).toEqual([HARMLESS]);
      expect(missing).toEqual([expect.stringMatching(/^Staking/)]);
    });
  });

  describe('an older database', () => {
    it('is refused by services, with what to do', async () => {
      await (await openService()).close();
      await withoutMigration('Staking');
      await expect(openService()).rejects.toThrow(SchemaOlderError);
      await expect(openService()).rejects.toThrow(
        /^The database lacks migrations of this program: Staking\d+\. Run `npm run migrate`/,
      );
    });

    it('is opened by commands only: empty, or before the reading role could see the migrations', async () => {
      const empty = await createTestDatabase('empty');
      expect((await readSchema(await empty.open())).missing.length).toBeGreaterThan(0);
      await expect(openService(empty.url)).rejects.toThrow(SchemaOlderError);
      await empty.drop();
      await database.query({ text: 'REVOKE USAGE ON SCHEMA lowmark FROM lowmark_reader' });
      const reader = await test.open({ readOnly: true });
      expect(await reader.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
    });
  });

  describe('a database of a development version', () => {
    it('is refused by every program and by migrate, with what to do', async () => {
      await database.query({
        text: `INSERT INTO lowmark.migration (timestamp, name) VALUES (1769999999999, 'StakingIndex1769999999999')`,
      });
      const refused = { code: 'SCHEMA_UNSUPPORTED', retryable: false };
      await expect(openService()).rejects.toMatchObject(refused);
      for (const readOnly of [false, true]) {
        const opening = createDatabase({ url: test.url, applicationName: 'command', readOnly });
        await expect(opening).rejects.toThrow(SchemaUnsupportedError);
      }
      await expect(migrate(test.url)).rejects.toMatchObject(refused);
      await expect(readSchema(database)).rejects.toThrow('Make a new database');
    });
  });

  async function starts(): Promise<boolean> {
    for (const readOnly of [false, true]) {
      try {
        const opened = await createDatabase({ url: test.url, applicationName: 'old', readOnly });
        await opened.close();
      } catch (error) {
        expect(error).toMatchObject({ code: 'SCHEMA_NEWER' });
        return false;
      }
    }
    return true;
  }

  /** Does the same as the newer program, for whose own check this database is not newer. */
  async function accept(...names: string[]): Promise<void> {
    const text = 'UPDATE lowmark.migration SET older_may_start = true WHERE name = ANY ($1)';
    await database.query({ text }, [names]);
  }

  describe('an older program', () => {
    it('starts where each migration that it does not know was accepted', async () => {
      await record(HARMLESS, HARD);
      expect(await starts()).toBe(false);
      await accept(HARMLESS);
      expect(await starts()).toBe(false);
      await accept(HARD);
      expect(await starts()).toBe(true);
      expect(await readSchema(database)).toEqual({
        unknown: [HARMLESS, HARD],
        accepted: [HARMLESS, HARD],
        missing: [],
      });
    });
  });

  describe('letOlderStart', () => {
    const ADDED = 'Added8000000000000';
    /** The migrations of a newer program; ADDED is applied in the tests that say so, the others are not. */
    const NEXT = [
      ...migrations,
      aMigration({
        name: ADDED,
        statements: ['CREATE TABLE partners.added (at timestamptz)'],
        olderMayStart: true,
      }),
    ];
    const NEWER = [
      ...NEXT,
      aMigration({ name: HARMLESS, olderMayStart: true }),
      aMigration({ name: HARD }),
    ];

    it('accepts what allows it, of what is applied, and all or none of it', async () => {
      expect(await migrate(test.url, { known: NEXT })).toEqual([ADDED]);
      const accepted = async () =>
        database.query({ text: 'SELECT name FROM lowmark.migration WHERE older_may_start' });
      const names = [ADDED];
      await expect(letOlderStart(test.url, [...names, HARMLESS], NEWER)).rejects.toMatchObject({
        code: 'OLDER_REFUSED',
        message: expect.stringContaining(HARMLESS),
      });
      expect(await accepted()).toEqual([]);
      expect(await starts()).toBe(false);
      await letOlderStart(test.url, names, NEXT);
      expect(await accepted()).toEqual([{ name: ADDED }]);
      expect(await starts()).toBe(true);
      expect(await migrate(test.url)).toEqual([]);
      expect(await starts()).toBe(true);
      expect(await migrate(test.url, { known: NEXT })).toEqual([]);
      expect(await accepted()).toEqual([]);
      expect(await starts()).toBe(false);
    });

    it.each([
      [HARD, `An older program would be wrong on the schema after ${HARD}`],
      ['Nothing1', 'Nothing1 is no migration of this program: the newest one knows it'],
    ])('refuses %s', async (name, message) => {
      await expect(letOlderStart(test.url, [name], NEWER)).rejects.toThrow(message);
    });
  });
});
