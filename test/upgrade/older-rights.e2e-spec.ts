/** Tests older programs with separate database users in production on the schema of a newer version. Needs a build. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
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
