import { type Database, type Statement } from '../connection/database.js';

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
