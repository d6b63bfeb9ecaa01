import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';

/** Each task is a row of redemption.task. */
export type Task = 'claim-watch' | 'reconciliation' | 'registry';

/**
 * Only the redemption service's credential may lock these rows. An advisory lock could be held by
 * every user of the database.
 */
const HOLD = named<{ task: Task }>(
  'task_hold',
  'SELECT task FROM redemption.task WHERE task = :task FOR UPDATE SKIP LOCKED',
);

/**
 * Does the work unless another process is doing it, and keeps a transaction open meanwhile. If the connection of this
 * transaction breaks, two processes may do the work at once, and the writes of the work must allow for this.
 * @returns undefined where another process is doing the work
 * @throws DatabaseUnavailableError, DatabaseRefusedError, or what the work throws
 */
export async function exclusively<T>(
  database: Database,
  task: Task,
  work: () => Promise<T>,
): Promise<{ readonly result: T } | undefined> {
  let done: { readonly result: T } | undefined;
  try {
    await database.transaction(async (client) => {
      // The work uses other connections while this transaction is idle.
      await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
      const held = await run(client, HOLD({ task }));
      if (held.length > 0) done = { result: await work() };
    });
  } catch (error) {
    if (done === undefined) throw error;
  }
  return done;
}
