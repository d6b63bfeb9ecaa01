import { type PoolClient } from 'pg';
import { databaseError } from './database.error.js';
import { type Database } from './database.js';

/** Two numbers that no other lock has. */
export type LockKey = readonly [number, number];

/**
 * Does the work where no other process does it now; a connection is held as long. Should that break, two may be at it: what the work
 * writes must bear that.
 * @returns undefined where another process is at it
 * @throws DatabaseUnavailableError, DatabaseRefusedError, or what the work throws
 */
export async function exclusively<T>(
  database: Database,
  key: LockKey,
  work: () => Promise<T>,
): Promise<{ readonly result: T } | undefined> {
  const client = await connect(database);
  // Without a listener, a connection that breaks meanwhile would end the process.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  let isFree = false;
  try {
    isFree = !(await locked(client, 'pg_try_advisory_lock', key));
    if (isFree) return undefined;
    return { result: await work() };
  } finally {
    // A session that cannot say that it lets go is ended, and the lock with it.
    const isClean = isFree || (await locked(client, 'pg_advisory_unlock', key).catch(() => false));
    client.off('error', ignore);
    client.release(!isClean);
  }
}

async function connect(database: Database): Promise<PoolClient> {
  try {
    return await database.pool.connect();
  } catch (error) {
    throw databaseError(error);
  }
}

async function locked(
  client: PoolClient,
  change: 'pg_try_advisory_lock' | 'pg_advisory_unlock',
  key: LockKey,
): Promise<boolean> {
  try {
    const { rows } = await client.query<{ done: boolean }>(`SELECT ${change}($1, $2) AS done`, [
      ...key,
    ]);
    return rows[0]?.done === true;
  } catch (error) {
    throw databaseError(error);
  }
}
