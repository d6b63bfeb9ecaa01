/**
 * Tests `migrate` as operators run it: several at once, killed in the middle, and by a program that is too old. Needs a
 * build.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database, readSchema } from '#libs/db';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { NextVersion, program } from './next-version.js';

const NAME = 'Later9000000000000';
const LOCK = 4711;
/** A migration that waits for an advisory lock when half of it is done. */
const SQL = `CREATE TABLE staking.later (at timestamptz);
  ALTER TABLE partners.partner ADD COLUMN later int NOT NULL DEFAULT 0;
  SELECT pg_advisory_xact_lock(${LOCK});
  CREATE INDEX later ON partners.partner (later)`;
/** All columns in the schemas, to find anything that a migration left behind. */
const CATALOG = {
  text: `SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema IN ('staking', 'partners', 'redemption', 'lowmark') ORDER BY 1, 2, 3`,
};
const WAITING = {
  text: `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lowmark migrate'
    AND wait_event = 'advisory' AND query LIKE 'CREATE TABLE staking.later%'`,
};

let next: NextVersion;
let test: TestDatabase | undefined;
beforeAll(async () => {
  next = await NextVersion.make({ name: NAME, sql: SQL });
});
afterEach(async () => {
  await test?.drop();
  test = undefined;
});
afterAll(() => next.remove());

const migrateNow = (url: string) => program('cli', ['migrate'], { DATABASE_URL: url });

describe('two migrations at once', () => {
  it('of an empty database: one does all, the other nothing', async () => {
    test = await createTestDatabase('empty');
    const url = test.url;
    const ended = await Promise.all([1, 2].map(() => migrateNow(url).ended));
    expect(ended.map(({ how }) => how)).toEqual([0, 0]);
    const said = ended.map(({ output }) => output).sort();
    expect(said).toEqual([
      expect.stringMatching(/^Applied \d+: Schema1770000000000, /),
      'The schema is up to date.\n',
    ]);
    expect(await readSchema(await test.open())).toEqual({ unknown: [], accepted: [], missing: [] });
  });

  it('of the database of an older version, old programs among them', async () => {
    test = await createTestDatabase();
    const url = test.url;
    const ended = await Promise.all([1, 2].map(() => next.migrate(url).ended));
    expect(ended.map(({ how, output }) => `${how} ${output}`).sort()).toEqual([
      `0 Applied 1: ${NAME}\n`,
      '0 The schema is up to date.\n',
    ]);
  });
});

describe('a migration that is killed in the middle', () => {
  let database: Database;
  beforeEach(async () => {
    test = await createTestDatabase();
    database = await test.open({ schema: 'any', poolSize: 3 });
  });

  it('leaves the database as it was, and the next one does it all', async () => {
    const url = String(test?.url);
    const before = await database.query(CATALOG);
    const blocker = await database.pool.connect();
    await blocker.query('SELECT pg_advisory_lock($1)', [LOCK]);
    const killed = next.migrate(url);
    while ((await database.query(WAITING)).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    killed.kill();
    expect(await killed.ended).toEqual({ how: 'SIGKILL', output: '' });
    // Another migration starts at once, and waits for the locks that the server still holds for the first one.
    const second = next.migrate(url);
    await blocker.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    blocker.release();
    expect(await second.ended).toEqual({ how: 0, output: `Applied 1: ${NAME}\n` });
    const after = await database.query(CATALOG);
    expect(after).toHaveLength(before.length + 2);
  });

  it('is nothing to the program of before', async () => {
    const before = await database.query(CATALOG);
    const blocker = await database.pool.connect();
    await blocker.query('SELECT pg_advisory_lock($1)', [LOCK]);
    const killed = next.migrate(String(test?.url));
    while ((await database.query(WAITING)).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    killed.kill();
    await killed.ended;
    await blocker.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    blocker.release();
    while ((await database.query(MIGRATING)).length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(await database.query(CATALOG)).toEqual(before);
    const output = 'The schema is up to date.\n';
    expect(await migrateNow(String(test?.url)).ended).toEqual({ how: 0, output });
  });
});

const MIGRATING = {
  text: `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lowmark migrate'`,
};
const ADDRESS = `0x${'11'.repeat(20)}`;

describe('a program that is older than the database', () => {
  let newer: TestDatabase;
  beforeAll(async () => {
    newer = await createTestDatabase();
    expect(await next.migrate(newer.url).ended).toMatchObject({ how: 0 });
  });
  afterAll(() => newer.drop());

  it.each(['cli', 'api', 'indexer', 'redemption'])('does not start: %s', async (app) => {
    const environment = {
      DATABASE_URL: newer.url,
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      EVIDENCE_KEY: Buffer.alloc(32, 8).toString('base64'),
      CHAIN_ID: '1',
      RPC_URLS: 'http://127.0.0.1:1',
      STAKE_CONTRACT: ADDRESS,
      STAKE_START_BLOCK: '1',
      TOKEN_CONTRACT: ADDRESS,
      VAULT_CONTRACT: ADDRESS,
      VAULT_START_BLOCK: '1',
      VOUCHER_SIGNER_KEY: `0x${'22'.repeat(32)}`,
      SIWE_DOMAINS: 'localhost',
      ...Object.fromEntries(['API', 'INDEXER', 'REDEMPTION'].map((name) => [`${name}_PORT`, '0'])),
    };
    const { how, output } = await program(app, app === 'cli' ? ['migrate'] : [], environment).ended;
    expect({ how, output }).toMatchObject({ how: 1 });
    expect(output).toContain(`migrated by a newer version of this program (${NAME}). Start that`);
    expect(output).toContain('docs/operating/upgrade.md');
    expect(output).toContain('SCHEMA_NEWER');
  });

  it('is let start by no command where the migration does not allow it', async () => {
    const { how, output } = await next.migrate(newer.url, '--let-older-start', NAME).ended;
    expect(how).toBe(1);
    expect(output).toContain('restore the backup that was taken before it');
    expect(output).toContain('OLDER_REFUSED');
    expect(await migrateNow(newer.url).ended).toMatchObject({ how: 1 });
  });
});
