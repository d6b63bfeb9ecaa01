import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type PoolClient } from 'pg';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Database, migrate, readSchema } from '../index.js';
import { migrations } from '../migrations/index.js';
import { aMigration } from '../migrations/next-migration.support.js';

const LAST = 'Last9000000000000';
const statements = ['ALTER TABLE partners.partner ADD COLUMN last int NOT NULL DEFAULT 0'];
const known = [...migrations, aMigration({ name: LAST, statements })];
const WAITING = {
  text: `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lowmark migrate'
    AND wait_event = 'relation'`,
};
const READ = { text: 'SELECT count(*)::int AS count FROM partners.partner' };

let test: TestDatabase;
let database: Database;
/** Reads the table that the migration has to change, in a transaction that does not end by itself. */
let holder: PoolClient;
beforeEach(async () => {
  test = await createTestDatabase();
  database = await test.open({ poolSize: 3 });
  holder = await database.pool.connect();
  await holder.query('BEGIN');
  await holder.query(READ.text);
});
afterEach(() => test.drop());

describe('migrate on a table in use', () => {
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
