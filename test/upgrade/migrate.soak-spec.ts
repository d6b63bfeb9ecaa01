/**
 * Tests `migrate` as operators run it: several at once, and killed in the middle; and the change from one database user
 * for all programs to one for each. Needs a build.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, PROGRAMS, readSchema } from '#libs/db';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { ApiProgram } from '../restarts/api-program.js';
import { SECRETS_KEY, serveIndex } from '../restarts/served-index.js';
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

const ADDRESS = `0x${'11'.repeat(20)}`;
/** The settings that a program needs besides its database, for all programs. */
const SETTINGS = {
  SECRETS_KEY,
  EVIDENCE_KEY: Buffer.alloc(32, 8).toString('base64'),
  CHAIN_ID: '1',
  RPC_URLS: 'http://127.0.0.1:1',
  STAKE_CONTRACT: ADDRESS,
  STAKE_START_BLOCK: '1',
  TOKEN_CONTRACT: ADDRESS,
  VAULT_CONTRACT: ADDRESS,
  VAULT_START_BLOCK: '1',
  VOUCHER_SIGNER_KEY: `0x${'22'.repeat(32)}`,
  SIWE_DOMAINS: 'app.example.com',
  ...Object.fromEntries(['API', 'INDEXER', 'REDEMPTION'].map((name) => [`${name}_PORT`, '0'])),
};

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

it('a migration that is killed in the middle leaves the database as it was, and the next one does it all', async () => {
  test = await createTestDatabase();
  const { url } = test;
  const database = await test.open({ schema: 'any', poolSize: 3 });
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

describe('an api that ends after the next version has migrated', () => {
  it('starts again in production once it is let, without a change of rights', async () => {
    const name = 'Wider9000000000000';
    const sql = `CREATE TABLE staking.wider (at timestamptz);
      GRANT SELECT ON staking.wider TO lowmark_reader, lowmark_index_writer`;
    const wider = await NextVersion.make({ name, sql, olderMayStart: true });
    try {
      test = await createTestDatabase();
      await serveIndex(test.url);
      expect(await wider.migrate(test.url).ended).toMatchObject({ how: 0 });
      const databaseUrl = test.urlAs('api');
      const environment = { ...SETTINGS, NODE_ENV: 'production', DATABASE_URL: databaseUrl };
      expect((await program('api', [], environment).ended).output).toContain('SCHEMA_NEWER');
      const accepted = await wider.migrate(test.url, '--let-older-start', name).ended;
      expect(accepted).toMatchObject({ how: 0 });
      const api = await ApiProgram.start({
        ...{ databaseUrl, secretsKey: SECRETS_KEY, nodeEnv: 'production' },
      });
      expect(await api.terminate()).toBe(0);
    } finally {
      await wider.remove();
    }
  });
});

describe('an installation with one database user for everything', () => {
  const suffix = randomBytes(4).toString('hex');
  const users = PROGRAMS.map((one) => `${one}_${suffix}`);
  const folder = mkdtempSync(join(tmpdir(), 'lowmark-urls-'));
  let shared: TestDatabase;
  let owner: Database;

  beforeAll(async () => {
    shared = await createTestDatabase();
    owner = await shared.open();
  });
  afterAll(async () => {
    for (const user of users) {
      await owner.query({ text: `DROP OWNED BY ${user}` });
      await owner.query({ text: `DROP ROLE ${user}` });
    }
    rmSync(folder, { recursive: true });
    await shared.drop();
  });

  function urlOf(one: (typeof PROGRAMS)[number]): string {
    const url = new URL(shared.url);
    [url.username, url.password] = [`${one}_${suffix}`, `secret-${one}`];
    return url.href;
  }

  it.each(['api', 'indexer', 'redemption'])(
    'is told what to do if %s would run as the owner in production',
    async (app) => {
      const environment = { ...SETTINGS, NODE_ENV: 'production', DATABASE_URL: shared.url };
      const { how, output } = await program(app, [], environment).ended;
      expect(how).toBe(1);
      expect(output).toContain('DATABASE_RIGHTS_EXCESSIVE');
      expect(output).toMatch(
        /is a superuser.*Give the \w+ a user of its own.*install\.md#database-users/,
      );
      expect(output).not.toContain(new URL(shared.url).password || 'nothing to find');
    },
  );

  it('gets its users from the next migration, which prints and logs no password', async () => {
    for (const one of PROGRAMS) writeFileSync(join(folder, `${one}_database_url`), urlOf(one));
    const environment = { DATABASE_URL: shared.url, SERVICE_DATABASE_URLS: folder };
    for (const again of ['once', 'twice']) {
      const { how, output } = await program('cli', ['migrate'], environment).ended;
      expect({ again, how, output }).toEqual({
        again,
        how: 0,
        output: `The schema is up to date.\nUsers with the rights of their programs: ${users.join(', ')}\n`,
      });
    }
  });

  it('then has commands that work, and a doctor that is content with their user', async () => {
    const environment = { DATABASE_URL: urlOf('cli'), SECRETS_KEY };
    const create = ['partner', 'create', '--name', 'Acme'];
    expect((await program('cli', create, environment).ended).how).toBe(0);
    const { output } = await program('cli', ['doctor'], environment).ended;
    expect(output).toMatch(/^ok +database rights +those of the cli/m);
    const asOwner = { ...environment, DATABASE_URL: shared.url };
    expect((await program('cli', ['doctor'], asOwner).ended).output).toMatch(
      /^fault +database rights +\w+ is a superuser/im,
    );
  });
});
