/** A single server that hangs: its connections are open, but nothing is answered. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestPostgres } from '#libs/testing/database';
import { createDatabase, type Database, DatabaseUnavailableError } from '../index.js';

let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
let database: Database;
beforeAll(async () => {
  postgres = await startTestPostgres();
  database = await createDatabase({
    ...{ url: postgres.server.url, applicationName: 'test', schema: 'any' },
    statementTimeoutMs: 1000,
  });
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
});

describe('a hung server', () => {
  it('costs a statement and a transaction some seconds, and is used again once it answers', async () => {
    await database.query({ text: 'SELECT 1' });
    await postgres.server.hang();
    const transaction = database.transaction(async (client) => {
      await client.query('SELECT 1');
    });
    const statement = database.query({ text: 'SELECT 1' });
    const results = await Promise.allSettled([statement, transaction]);
    for (const result of results) {
      expect(result).toMatchObject({ reason: expect.any(DatabaseUnavailableError) });
    }
    await postgres.server.resume();
    expect(await database.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
  });

  it('is told from a statement that may take long', async () => {
    const long = { text: 'SELECT 1 AS one, pg_sleep(9)::text AS slept' };
    const read = database.transaction((client) => client.query(long), 20_000);
    expect((await read).rows).toEqual([{ one: 1, slept: '' }]);
    await expect(database.query(long)).rejects.toThrow(DatabaseUnavailableError);
  });
});
