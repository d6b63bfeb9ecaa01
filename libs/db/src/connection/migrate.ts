import { setTimeout as sleep } from 'node:timers/promises';
import { MigrationExecutor, QueryFailedError } from 'typeorm';
import { PermanentError } from '#libs/domain';
import { migrations } from '../migrations/index.js';
import { grantRights } from '../roles/grant-rights.js';
import { upgradeSets } from '../stake-sets/upgrade-sets.js';
import { createDatabase, type Database } from './database.js';
import { databaseError, SchemaBusyError, UnsupportedDatabaseError } from './database.error.js';
import { named } from './named.js';
import { MIGRATION_SCHEMA, readSchema, requireSchema } from './schema-check.js';
import { type SchemaMigration } from './schema-migration.js';

/** Any two numbers: the one lock of this program's schema, in the database it is taken in. */
const MIGRATION_LOCK = [0x10_77, 1] as const;
export const OLDEST_VERSION = 150_000;
/**
 * A statement that comes after one that waits for a table waits behind it: for this long at most, which a reader outlasts (its own
 * statements may take five seconds).
 */
const LOCK_TIMEOUT_MS = 2000;
const PAUSE_MS = 1000;
/** The table was in use for too long; or its user waits for what this holds, and one of the two had to give way. */
const [LOCK_NOT_AVAILABLE, DEADLOCK] = ['55P03', '40P01'];
const REVOKE = `UPDATE ${MIGRATION_SCHEMA}.migration SET older_may_start = false WHERE older_may_start`;

/** All of them or none: a name that is not there leaves the others as they were. */
const ACCEPT = named<{ names: readonly string[] }>(
  'older_may_start',
  `UPDATE ${MIGRATION_SCHEMA}.migration SET older_may_start = true
    WHERE name = ANY (:names) AND (SELECT count(*) FROM ${MIGRATION_SCHEMA}.migration WHERE name = ANY (:names)) = cardinality(:names::text[])
    RETURNING name`,
);

/** Migrations that an older program must not run on, or that there are not. */
class OlderRefusedError extends PermanentError {
  constructor(reason: string) {
    super('OLDER_REFUSED', `${reason} Nothing was changed. See docs/operating/upgrade.md.`);
  }
}

interface MigrateOptions {
  /** How often it waits for tables in use, about three seconds each. Default 20. */
  readonly tries?: number;
  /** To be made where they are not there. */
  readonly stakeSets?: readonly string[];
}

/**
 * Brings the schema up to date in one transaction; does nothing where it is. Two that run at once wait for each other. Where programs
 * are at work it waits for tables a little at a time, and lets them go on in between. What was accepted for an older program is so no
 * longer, unless it is that program. Then every program's role has the rights that rights.ts says, and no others. The stake sets that
 * there are have the same migrations.
 *
 * @returns the names of the migrations that were applied
 * @throws UnsupportedDatabaseError, SchemaNewerError, SchemaBusyError, DatabaseUnavailableError, DatabaseRefusedError
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  return onSchema(url, async (database) => {
    const applied = await runMigrations(database, options);
    const { unknown } = await readSchema(database);
    // An older program that was let start again migrates first, as it always does.
    if (unknown.length === 0) {
      await database.query({ text: REVOKE });
      // Where this user may make no roles, `prepareLogins` says what an administrator has to do.
      await grantRights(database);
    }
    return applied;
  });
}

/**
 * Lets programs start that do not know these migrations, each of which must allow it; until `migrate` is run again. Done by the newest
 * program, the only one that knows what its migrations allow.
 *
 * @param names as SCHEMA_NEWER of the older program names them
 * @throws OlderRefusedError, and what `migrate` throws
 */
export async function letOlderStart(
  url: string,
  names: readonly string[],
  known: readonly SchemaMigration[] = migrations.map((Migration) => new Migration()),
): Promise<void> {
  for (const name of names) {
    const migration = known.find((one) => one.name === name);
    if (migration === undefined)
      throw new OlderRefusedError(
        `${name} is no migration of this program: the newest one knows it, give the command to that.`,
      );
    if (migration.olderMayStart !== true) {
      throw new OlderRefusedError(
        `An older program would be wrong on the schema after ${name}: to go back behind it, restore the backup that was taken before it.`,
      );
    }
  }
  await onSchema(url, async (database) => {
    for (const { name, olderMisreads } of known) {
      if (olderMisreads === undefined || !names.includes(name)) continue;
      const rows = await database.query({ text: olderMisreads.rows });
      if (rows.length === 0) continue;
      throw new OlderRefusedError(
        `An older program would misread what was written since ${name}: ${olderMisreads.remedy}.`,
      );
    }
    const changed = await database.query<{ name: string }>(ACCEPT({ names }));
    const absent = names.filter((name) => !changed.some((row) => row.name === name));
    if (absent.length > 0) {
      throw new OlderRefusedError(`${absent.join(', ')} is not applied to this database.`);
    }
  });
}

/** Does work on a schema that no newer program has migrated, alone in its database. @throws as migrate */
export async function onSchema<T>(
  url: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await createDatabase({
    url,
    applicationName: 'lowmark migrate',
    poolSize: 2,
    statementTimeoutMs: 0,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    // Held against the migrations below, once no other program can be adding to them.
    schema: 'any',
  });
  try {
    await requireSupported(database);
    const lock = await database.pool.connect();
    // The statements report a lost connection; between them nothing listens, and an unheard error would end the process.
    lock.on('error', () => undefined);
    try {
      await lock.query('SET lock_timeout = 0');
      await lock.query('SELECT pg_advisory_lock($1, $2)', [...MIGRATION_LOCK]);
      await requireSchema(database);
      return await work(database);
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

async function requireSupported(database: Database): Promise<void> {
  const [version] = await database.query<{ number: number }>({
    name: 'server_version',
    text: `SELECT current_setting('server_version_num')::int AS number`,
  });
  if (version === undefined || version.number < OLDEST_VERSION) {
    throw new UnsupportedDatabaseError();
  }
}

async function runMigrations(
  database: Database,
  { tries = 20, stakeSets = [] }: MigrateOptions,
): Promise<string[]> {
  await database.query({ text: `CREATE SCHEMA IF NOT EXISTS ${MIGRATION_SCHEMA}` });
  for (let left = tries; ; left--) {
    try {
      return await inOneTransaction(database, stakeSets);
    } catch (error) {
      if (!waitedForTable(error)) throw error;
      if (left <= 1) throw new SchemaBusyError(error);
    }
    await sleep(PAUSE_MS);
  }
}

async function inOneTransaction(
  { dataSource }: Database,
  stakeSets: readonly string[],
): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    const executor = new MigrationExecutor(dataSource, runner);
    // This one is.
    executor.transaction = 'none';
    const applied = await executor.executePendingMigrations();
    const ofSets = await upgradeSets(runner, stakeSets);
    await runner.commitTransaction();
    return [...applied.map(({ name }) => name), ...ofSets];
  } catch (error) {
    // A connection that is lost has lost its transaction, too; what lost it is the error that tells.
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}

function waitedForTable(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const { code } = error.driverError as { code?: unknown };
  return code === LOCK_NOT_AVAILABLE || code === DEADLOCK;
}
