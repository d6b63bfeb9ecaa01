import { type Database, type Statement } from '../connection/database.js';
import { leaderLockOf } from '../index-store/leader-lock.js';

/** What the server says of itself, for an operator. */
export interface ServerFacts {
  /** As PostgreSQL numbers it: 150004 is 15.4. */
  readonly version: number;
  readonly nowMs: number;
  /** A standby: nothing can be written. */
  readonly isStandby: boolean;
  /** An indexer holds the right to write the index of the stake set. */
  readonly isLed: boolean;
}

// The lock is one of this database: the same numbers in another one are another lock.
const FACTS: Statement = {
  name: 'server_facts',
  text: `SELECT current_setting('server_version_num')::int AS version,
      (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs", pg_is_in_recovery() AS "isStandby",
      EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid::int = $1 AND objid::int = $2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS "isLed"`,
};

/** @throws DatabaseUnavailableError, DatabaseRefusedError */
export async function readServerFacts(database: Database, stakeSet: string): Promise<ServerFacts> {
  const [facts] = await database.query<ServerFacts & object>(FACTS, leaderLockOf(stakeSet));
  if (facts === undefined) throw new TypeError('one row always comes');
  return facts;
}

/** How the names of a redemption service's connections begin. */
export const REDEMPTION_PROGRAM = 'lowmark redemption';

const COUNT: Statement = {
  name: 'count_programs',
  text: `SELECT count(DISTINCT application_name)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, $1)`,
};

/**
 * How many programs are connected to this database at this server, by the names of their connections that begin so. Who dies is no
 * longer counted as soon as the server notices.
 * @throws DatabaseUnavailableError, DatabaseRefusedError
 */
export async function countPrograms(database: Database, namePrefix: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(COUNT, [namePrefix]);
  return row?.count ?? 0;
}
