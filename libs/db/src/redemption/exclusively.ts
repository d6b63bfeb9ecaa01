import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';

/** A row of redemption.task each. */
export type Task = 'claim-watch' | 'reconciliation' | 'registry';

/** Only the redemption service's credential may lock these rows; any user of the database could hold an advisory lock. */
const HOLD = named<{ task: Task }>(
  'task_hold',
  'SELECT task FROM redemption.task WHERE task = :task FOR UPDATE SKIP LOCKED',
);

/**
 * Does the work where no other process does it now; a transaction of its own is held open as long. Should its connection break, two may
 * be at it: what the work writes must bear that.
 * @returns undefined where another process is at it
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
      // The work goes on over other connections, and this one waits for it.
      await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
      const held = await run(client, HOLD({ task }));
      if (held.length > 0) done = { result: await work() };
    });
  } catch (error) {
    if (done === undefined) throw error;
  }
  return done;
}
