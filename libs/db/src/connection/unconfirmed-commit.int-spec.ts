/** A primary that waits for a missing standby. A commit whose wait is cut off counts as not done. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/clock';
import { anInitialIndex, startTestPostgres } from '#libs/testing/database';
import {
  createDatabase,
  type Database,
  DatabaseUnavailableError,
  IndexStore,
  migrate,
} from '../index.js';

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
    const unknown = expect(insertInTransaction(database)).rejects.toThrow(DatabaseUnavailableError);
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

describe('a commit that need not wait', () => {
  it('is done', async () => {
    await insertInTransaction(admin);
    expect(await admin.query({ text: 'SELECT n FROM public.mark' })).toEqual([{ n: 1 }]);
  });
});
