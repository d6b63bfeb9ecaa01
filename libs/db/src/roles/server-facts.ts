import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { leaderLockOf } from '../index-store/leader-lock.js';

export interface ServerFacts {
  /** PostgreSQL's version number: 150004 is 15.4. */
  readonly version: number;
  readonly nowMs: number;
  /** The server is a standby and takes no writes. */
  readonly isStandby: boolean;
  /** An indexer holds the leader lock of the stake set. */
  readonly isLed: boolean;
}

// Another database of the server may use the same lock numbers, so the query asks for those of this database.
const FACTS = named<{ lockClass: number; lockObject: number }>(
  'server_facts',
  `SELECT current_setting('server_version_num')::int AS version,
      (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs", pg_is_in_recovery() AS "isStandby",
      EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid::int = :lockClass AND objid::int = :lockObject
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS "isLed"`,
);

/** @throws DatabaseUnavailableError, DatabaseRefusedError */
export async function readServerFacts(database: Database, stakeSet: string): Promise<ServerFacts> {
  const [lockClass, lockObject] = leaderLockOf(stakeSet);
  const [facts] = await database.query<ServerFacts & object>(FACTS({ lockClass, lockObject }));
  if (facts === undefined) throw new TypeError('one row always comes');
  return facts;
}

/** Prefix of the application name of each redemption service. */
export const REDEMPTION_PROGRAM = 'lowmark redemption';

const COUNT = named<{ prefix: string }>(
  'count_programs',
  `SELECT count(DISTINCT application_name)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, :prefix)`,
);

/**
 * Number of programs that are connected to this database of this server, by their different application names with the
 * prefix. A program that died counts until the server notices.
 * @throws DatabaseUnavailableError, DatabaseRefusedError
 */
export async function countPrograms(database: Database, namePrefix: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(COUNT({ prefix: namePrefix }));
  return row?.count ?? 0;
}
