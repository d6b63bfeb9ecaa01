/** Settings that an administrator gave the database or a user, and what sessions of the programs make of them. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase, PostgresPair, type TestDatabase } from '#libs/testing/database';
import {
  createDatabase,
  type Database,
  DatabaseRefusedError,
  excessRights,
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

  it('is read as any other one', async () => {
    const database = await test.open();
    const text = String.raw`SELECT 0.1::float8 + 0.2::float8 AS sum, '\x01ff'::bytea AS bytes, 'a\nb' AS text,
      '2026-11-28 12:00:00+00'::timestamptz AS moment, interval '90 minutes' AS span, $1::text[] AS list`;
    expect(await database.query({ text }, [['a', null]])).toMatchObject([
      {
        ...{ sum: 0.1 + 0.2, bytes: Buffer.of(1, 255), text: String.raw`a\nb` },
        ...{ moment: new Date('2026-11-28T12:00:00Z'), span: { hours: 1, minutes: 30 } },
        list: ['a', null],
      },
    ]);
  });

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
