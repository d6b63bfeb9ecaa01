import { type PoolClient } from 'pg';
import { type Database } from '#libs/db';

type TransactionWork = Parameters<Database['transaction']>[0];

interface WatchedLocks {
  /** The database, with transactions that are watched. */
  readonly database: Database;
  /** For each statement, in order: whether a row of the table was locked when it had ended. */
  readonly held: readonly boolean[];
}

/**
 * Watches whether transactions lock the rows of a table against changes. Calls that come one after the other give the
 * same results without the lock.
 * @param other further connections to the same database
 */
export function watchLocks(database: Database, other: Database, table: string): WatchedLocks {
  const held: boolean[] = [];
  const look = async (): Promise<void> => {
    held.push(await isLocked(other, table));
  };
  const transaction = (work: TransactionWork, timeoutMs?: number): Promise<unknown> =>
    database.transaction((client) => work(looking(client, look)), timeoutMs);
  return { database: Object.assign(Object.create(database) as Database, { transaction }), held };
}

async function isLocked(other: Database, table: string): Promise<boolean> {
  try {
    await other.query({ text: `SELECT FROM ${table} FOR NO KEY UPDATE NOWAIT` });
    return false;
  } catch (error) {
    const { sqlState } = error as { sqlState?: string };
    if (sqlState === '55P03') return true;
    throw error;
  }
}

/** Looks after each statement of the client, except after a COPY, which is a stream. */
function looking(client: PoolClient, look: () => Promise<void>): PoolClient {
  const run = client.query.bind(client) as (...given: unknown[]) => unknown;
  const query = (...given: unknown[]): unknown => {
    const answer = run(...given);
    if (!(answer instanceof Promise)) return answer;
    return answer.then(async (result: unknown) => {
      await look();
      return result;
    });
  };
  return Object.assign(Object.create(client) as PoolClient, { query });
}
