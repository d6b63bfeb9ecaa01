import { databaseError, UnsupportedDatabaseError } from '../connection/database.error.js';
import { type Database } from '../connection/database.js';
import { migrations } from './index.js';
import { requireSchema } from './schema-check.js';
import { type MigrationClass } from './schema-migration.js';
import { createDatabase } from './create-database.js';

/** Two arbitrary numbers of the advisory lock that allows one migration at a time in a database. */
const MIGRATION_LOCK = [0x10_77, 1] as const;
export const OLDEST_VERSION = 150_000;
/**
 * Milliseconds that a migration waits for a table lock. Later statements on the table queue behind it for as long,
 * which is less than the five seconds that a reader's statement may take.
 */
const LOCK_TIMEOUT_MS = 2000;

/**
 * Runs work under the migration lock, on a schema that is not newer than this program.
 * @throws what `migrate` throws
 */
export async function underMigrationLock<T>(
  url: string,
  work: (database: Database) => Promise<T>,
  known: readonly MigrationClass[] = migrations,
): Promise<T> {
  const database = await createDatabase({
    url,
    applicationName: 'lowmark migrate',
    poolSize: 2,
    statementTimeoutMs: 0,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    // The check follows below, under the lock, where no other program can add migrations.
    schema: 'any',
    migrations: known,
  });
  try {
    await requireSupported(database);
    const lock = await database.pool.connect();
    // Statements report a lost connection. Between statements nothing else listens, and an unhandled error event
    // would end the process.
    lock.on('error', () => undefined);
    try {
      await lock.query('SET lock_timeout = 0');
      await lock.query('SELECT pg_advisory_lock($1, $2)', [...MIGRATION_LOCK]);
      await requireSchema(database, 'not-newer', known);
      return await work(database);
    } finally {
      // The end of the session releases the lock, even where the session is broken.
      lock.release(true);
    }
  } catch (error) {
    throw databaseError(error);
  } finally {
    await database.close();
  }
}

async function requireSupported(database: Database): Promise<void> {
  const [version] = await database.query<{ number: number }>({
    name: 'server_version',
    text: `SELECT current_setting('server_version_num')::int AS number`,
  });
  if (version === undefined || version.number < OLDEST_VERSION) {
    throw new UnsupportedDatabaseError();
  }
}
