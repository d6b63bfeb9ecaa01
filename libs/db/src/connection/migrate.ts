import { createDatabase } from './database.js';
import { databaseError } from './database.error.js';
import { MIGRATION_SCHEMA, requireKnownSchema } from './schema-check.js';
import { UnsupportedDatabaseError } from './unsupported-database.error.js';

/** Any two numbers: the one lock of this program's schema, in the database it is taken in. */
const MIGRATION_LOCK = [0x10_77, 1] as const;
export const OLDEST_VERSION = 150_000;

/**
 * Brings the schema up to date in one transaction; does nothing where it is. Two that run at once wait for each other.
 *
 * @returns the names of the migrations that were applied
 * @throws UnsupportedDatabaseError, SchemaNewerError, DatabaseUnavailableError, DatabaseRefusedError
 */
export async function migrate(url: string): Promise<string[]> {
  const database = await createDatabase({
    url,
    applicationName: 'lowmark migrate',
    poolSize: 2,
    statementTimeoutMs: 0,
    // Held against the migrations below, once no other program can be adding to them.
    anySchema: true,
  });
  try {
    const [version] = await database.query<{ number: number }>({
      name: 'server_version',
      text: `SELECT current_setting('server_version_num')::int AS number`,
    });
    if (version === undefined || version.number < OLDEST_VERSION) {
      throw new UnsupportedDatabaseError();
    }
    const lock = await database.pool.connect();
    // The statements report a lost connection; between them nobody listens, and an unheard error would end the process.
    lock.on('error', () => undefined);
    try {
      await lock.query('SELECT pg_advisory_lock($1, $2)', [...MIGRATION_LOCK]);
      await requireKnownSchema(database);
      await lock.query(`CREATE SCHEMA IF NOT EXISTS ${MIGRATION_SCHEMA}`);
      const applied = await database.dataSource.runMigrations();
      return applied.map(({ name }) => name);
    } finally {
      // Ending the session gives the lock back, also where the session is broken.
      lock.release(true);
    }
  } catch (error) {
    throw databaseError(error);
  } finally {
    await database.close();
  }
}
