/** Settings that an administrator gave the database or a user, and what sessions of the programs make of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/clock';
import {
  anInitialIndex,
  createTestDatabase,
  PostgresPair,
  startTestPostgres,
  type TestDatabase,
} from '#libs/testing/database';
import {
  createDatabase,
  type Database,
  DatabaseRefusedError,
  DatabaseUnavailableError,
  excessRights,
  IndexStore,
  LateDatabase,
  migrate,
  missingRights,
  readForeignSettings,
} from '../index.js';
import { sessionSettings } from './session-settings.js';

/** Values that would break statements, or what they read. */
const HOSTILE = {
  array_nulls: 'off',
  bytea_output: 'escape',
  client_min_messages: 'error',
  datestyle: 'SQL, DMY',
  default_transaction_isolation: 'serializable',
  extra_float_digits: '-15',
  idle_in_transaction_session_timeout: '1',
  idle_session_timeout: '1',
  intervalstyle: 'iso_8601',
  lock_timeout: '1',
  quote_all_identifiers: 'on',
  row_security: 'off',
  search_path: 'nowhere',
  standard_conforming_strings: 'off',
  statement_timeout: '1',
  timezone: 'Asia/Kathmandu',
} as const;

async function set(of: TestDatabase, settings: Readonly<Record<string, string>>): Promise<void> {
  const plain = await of.open({ poolSize: 1 });
  for (const [name, value] of Object.entries(settings)) {
    await plain.query({ text: `ALTER DATABASE ${of.name} SET ${name} = '${value}'` });
  }
  await of.close();
}

async function settingsOf(database: Database, names: readonly string[]): Promise<object> {
  const rows = await database.query<{ name: string; setting: string }>(
    { text: 'SELECT lower(name) AS name, setting FROM pg_settings WHERE lower(name) = ANY ($1)' },
    [names],
  );
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

describe('a database with settings of an administrator', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    await set(test, HOSTILE);
  });
  afterAll(() => test.drop());

  it.each(['api', 'redemption'] as const)(
    'leaves the sessions of the %s as they are',
    async (as) => {
      const readOnly = as === 'api';
      const database = await test.open({ url: test.urlAs(as), readOnly });
      const { role, ...wanted } = sessionSettings({ readOnly });
      expect(role).toBe(readOnly ? 'lowmark_reader' : undefined);
      expect(Object.keys(HOSTILE).filter((name) => !(name in wanted))).toEqual([]);
      expect(await settingsOf(database, Object.keys(wanted))).toEqual(wanted);
    },
  );

  it('is migrated, and its programs have their rights', async () => {
    const empty = await createTestDatabase('empty');
    try {
      await set(empty, HOSTILE);
      await migrate(empty.url);
      const database = await empty.open({ url: empty.urlAs('redemption'), schema: 'current' });
      expect(await excessRights(database, 'redemption')).toEqual([]);
      expect(await missingRights(database, 'redemption')).toEqual([]);
    } finally {
      await empty.drop();
    }
  });
});

it('a database of a Turkish locale, whose small I has no dot, is migrated and opened', async () => {
  const test = await createTestDatabase('empty');
  const admin = await test.open();
  const name = `${test.name}_tr`;
  const url = new URL(test.url);
  url.pathname = name;
  const locale = `ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR' LOCALE 'C'`;
  await admin.query({ text: `CREATE DATABASE ${name} TEMPLATE template0 ${locale}` });
  try {
    await migrate(url.href);
    await admin.query({ text: `ALTER DATABASE ${name} SET IntervalStyle = 'iso_8601'` });
    const options = { url: url.href, applicationName: 'test', schema: 'current' } as const;
    const database = await createDatabase(options);
    try {
      expect(await readForeignSettings(database)).toEqual([]);
      expect(await missingRights(database, 'redemption')).toHaveLength(0);
    } finally {
      await database.close();
    }
  } finally {
    await admin.query({ text: `DROP DATABASE ${name} WITH (FORCE)` });
    await test.drop();
  }
});

describe('a standby whose database asks for serializable transactions', () => {
  let pair: PostgresPair;
  let admin: Database;
  beforeAll(async () => {
    pair = await PostgresPair.start();
    admin = await open({ url: pair.primary.url, applicationName: 'admin' });
    const text = `ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'`;
    await admin.query({ text });
    await eventually(() => isReplicated('default_transaction_isolation=serializable'));
  });
  afterAll(async () => {
    await admin.close();
    await pair.stop();
  });

  const open = (options: object): Promise<Database> =>
    createDatabase({ url: pair.standby.url, applicationName: 'test', schema: 'any', ...options });

  async function isReplicated(setting: string): Promise<boolean> {
    const standby = await open({ applicationName: 'admin' });
    const rows = await standby.query<{ config: string }>({
      text: 'SELECT unnest(setconfig) AS config FROM pg_db_role_setting',
    });
    await standby.close();
    return rows.some(({ config }) => config === setting);
  }

  async function sessions(): Promise<number> {
    const standby = await open({ applicationName: 'admin' });
    const [row] = await standby.query<{ count: number }>({
      text: `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'leaky'`,
    });
    await standby.close();
    return row?.count ?? 0;
  }

  it('can be read', async () => {
    const database = await open({});
    try {
      expect(await database.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
    } finally {
      await database.close();
    }
  });

  it('keeps no connection of a program that cannot open it, behind a pooler', async () => {
    const late = new LateDatabase(() => open({ applicationName: 'leaky', isPooled: true }));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(late.open()).rejects.toThrow(DatabaseRefusedError);
    }
    await late.close();
    await eventually(async () => (await sessions()) === 0);
  });
});

describe('a primary that waits for a missing standby', () => {
  const WAITING = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;

  let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
  let admin: Database;
  let database: Database;
  beforeAll(async () => {
    postgres = await startTestPostgres({ synchronous_standby_names: 'absent' });
    admin = await open({ synchronousCommit: 'local' });
    await admin.query({ text: 'CREATE TABLE public.mark (n int)' });
    database = await open({});
  });
  beforeEach(() => admin.query({ text: 'TRUNCATE public.mark' }));
  afterAll(async () => {
    await database.close();
    await admin.close();
    await postgres.stop();
  });

  function open(options: object): Promise<Database> {
    const { url } = postgres.server;
    return createDatabase({ url, applicationName: 'test', schema: 'any', ...options });
  }

  /** Cuts off the wait of the only commit that waits. */
  async function cutOff(how: 'pg_cancel_backend' | 'pg_terminate_backend'): Promise<void> {
    await eventually(async () => (await admin.query({ text: WAITING })).length === 1);
    await admin.query({ text: `SELECT ${how}(pid) FROM (${WAITING}) AS waiting` });
  }

  async function insertInTransaction(on: Database): Promise<unknown> {
    return on.transaction((client) => client.query('INSERT INTO public.mark VALUES (1)'));
  }

  describe.each(['pg_cancel_backend', 'pg_terminate_backend'] as const)('%s', (how) => {
    it('leaves the outcome of a transaction unknown', async () => {
      const unknown = expect(insertInTransaction(database)).rejects.toThrow(
        DatabaseUnavailableError,
      );
      await cutOff(how);
      await unknown;
      // The row exists, but would be missing after a failover. So the outcome is unknown.
      expect(await admin.query({ text: 'SELECT n FROM public.mark' })).toEqual([{ n: 1 }]);
    });

    it('leaves the outcome of a statement by itself unknown', async () => {
      const inserted = database.query({ text: 'INSERT INTO public.mark VALUES ($1)' }, [1]);
      const unknown = expect(inserted).rejects.toThrow(DatabaseUnavailableError);
      await cutOff(how);
      await unknown;
    });
  });

  describe('a standby that stays away', () => {
    it('does not hold a program up for ever, though the server does not count the wait', async () => {
      const hasty = await open({ statementTimeoutMs: 200, poolSize: 1 });
      const inserted = hasty.query({ text: 'INSERT INTO public.mark VALUES ($1)' }, [1]);
      await expect(inserted).rejects.toThrow(DatabaseUnavailableError);
      await cutOff('pg_terminate_backend');
      await expect(insertInTransaction(hasty)).rejects.toThrow(DatabaseUnavailableError);
      await cutOff('pg_terminate_backend');
      expect(await hasty.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
      await hasty.close();
    });
  });

  describe('the lead over the index', () => {
    it('is not taken where the standby is away, though blocks could be written', async () => {
      const options = encodeURIComponent('-c synchronous_commit=local');
      await migrate(`${postgres.server.url}&options=${options}`);
      const indexer = await open({ synchronousCommit: 'local' });
      const store = new IndexStore(indexer);
      await store.create(anInitialIndex());
      const refused = expect(store.takeLead()).rejects.toThrow(DatabaseUnavailableError);
      await cutOff('pg_cancel_backend');
      await refused;
      await indexer.close();
    });
  });
});
