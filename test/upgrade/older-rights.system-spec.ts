/** Tests older programs with separate database users in production on the schema of a newer version. Needs a build. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database } from '#libs/db';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { ApiProgram } from '../restarts/api-program.js';
import { SECRETS_KEY, serveIndex } from '../restarts/served-index.js';
import { NextVersion, program } from './next-version.js';

const NAME = 'Wider9000000000000';
const SQL = `CREATE TABLE staking.wider (at timestamptz);
  GRANT SELECT ON staking.wider TO lowmark_reader, lowmark_index_writer`;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

describe('an api that ends after the next version has migrated', () => {
  it('starts again in production once it is let, without a change of rights', async () => {
    const next = await NextVersion.make({ name: NAME, sql: SQL, olderMayStart: true });
    const databaseUrl = test.urlAs('api');
    try {
      await serveIndex(test.url);
      expect(await next.migrate(test.url).ended).toMatchObject({ how: 0 });
      const environment = { NODE_ENV: 'production', DATABASE_URL: databaseUrl, SECRETS_KEY };
      const refused = await program('api', [], { ...environment, API_PORT: '0' }).ended;
      expect(refused.output).toContain('SCHEMA_NEWER');
      const accepted = await next.migrate(test.url, '--let-older-start', NAME).ended;
      expect(accepted).toMatchObject({ how: 0 });
      const api = await ApiProgram.start({
        ...{ databaseUrl, secretsKey: SECRETS_KEY, nodeEnv: 'production' },
      });
      expect(await api.terminate()).toBe(0);
    } finally {
      await next.remove();
    }
  });
});

/** The tables of schema `staking` that the previous version knew: SELECT for its api, any right for its indexer. */
const BEFORE = {
  lowmark_reader: ['index_state', 'balance_day', 'price', 'price_hold', 'price_acceptance'],
  lowmark_index_writer: [
    ...['index_state', 'block', 'balance_change', 'balance_day', 'price', 'price_hold'],
    ...['price_acceptance', 'audit_run'],
  ],
};

describe('the way back to the version before the proofs', () => {
  let other: TestDatabase;
  let owner: Database;
  beforeAll(async () => {
    other = await createTestDatabase();
    owner = await other.open();
  });
  afterAll(() => other.drop());

  async function used(role: string): Promise<string[]> {
    const text = `SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'staking'::regnamespace AND relkind IN ('r', 'p', 'v')
      AND has_table_privilege($1, oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') ORDER BY 1`;
    return (await owner.query<{ name: string }>({ text }, [role])).map(({ name }) => name);
  }

  it('is what docs/operating/upgrade.md says: its programs have no right that they do not know', async () => {
    const page = readFileSync('docs/operating/upgrade.md', 'utf8');
    const statements = /```sql\n(?<sql>.*?)```/s.exec(page)?.groups?.['sql'] ?? '';
    for (const [role, tables] of Object.entries(BEFORE)) {
      expect(await used(role)).not.toEqual([...tables].sort());
    }
    for (const text of statements.split(';').filter((one) => one.trim() !== '')) {
      await owner.query({ text });
    }
    for (const [role, tables] of Object.entries(BEFORE)) {
      expect(await used(role)).toEqual([...tables].sort());
    }
  });

  it('lets its indexer take blocks back, which notes the sealed days', async () => {
    await serveIndex(other.url);
    await owner.query({
      text: `INSERT INTO staking.sealed_day (day, revision, root, wallets, total, block_number, block_hash, software)
        VALUES (1, 1, sha256('1'), 0, 0, 1000, sha256('2'), 'test')`,
    });
    const indexer = await other.open({ url: other.urlAs('indexer'), poolSize: 1 });
    await indexer.query({ text: 'UPDATE staking.index_state SET head_number = 999' });
    const noted = { text: 'SELECT from_day FROM staking.seal_recheck' };
    expect(await owner.query(noted)).toEqual([{ from_day: 1 }]);
    await expect(indexer.query(noted)).rejects.toMatchObject({ sqlState: '42501' });
  });
});
