import { setTimeout as sleep } from 'node:timers/promises';
import { MigrationExecutor, QueryFailedError } from 'typeorm';
import { PermanentError } from '#libs/domain';
import { migrations } from '../migrations/index.js';
import { grantRights } from '../roles/grant-rights.js';
import { upgradeSets } from './upgrade-sets.js';
import { type Database } from '../connection/database.js';
import { underMigrationLock } from '../migrations/migration-lock.js';
import { SchemaBusyError } from '../connection/database.error.js';
import { named } from '../connection/named.js';
import { MIGRATION_SCHEMA, readSchema } from '../migrations/schema-check.js';
import { type MigrationClass } from '../migrations/schema-migration.js';

const PAUSE_MS = 1000;
/**
 * Codes of an attempt that is worth a retry: a table was in use for too long, or its user waited for a lock of the
 * migration, and the migration was ended to break the deadlock.
 */
const [LOCK_NOT_AVAILABLE, DEADLOCK] = ['55P03', '40P01'];
const DISALLOW_OLDER = `UPDATE ${MIGRATION_SCHEMA}.migration SET older_may_start = false WHERE older_may_start`;

/** Accepts all names or none: where one of them is not recorded, no row changes. */
const ALLOW_OLDER = named<{ names: readonly string[] }>(
  'older_may_start',
  `UPDATE ${MIGRATION_SCHEMA}.migration SET older_may_start = true
    WHERE name = ANY (:names) AND (SELECT count(*) FROM ${MIGRATION_SCHEMA}.migration WHERE name = ANY (:names)) = cardinality(:names::text[])
    RETURNING name`,
);

/** The named migrations do not exist, or an older program must not run on them. */
class OlderRefusedError extends PermanentError {
  constructor(reason: string) {
    super('OLDER_REFUSED', `${reason} Nothing was changed. See docs/operating/upgrade.md.`);
  }
}

interface MigrateOptions {
  /** Maximum number of attempts while tables are in use, about three seconds each. Default 20. */
  readonly tries?: number;
  /** Stake sets to create where they are missing. */
  readonly stakeSets?: readonly string[];
  /** For tests: the migrations of another version. Default: those of this program. */
  readonly known?: readonly MigrationClass[];
}

/**
 * Applies the missing migrations in one transaction, to the default stake set and to all others. Concurrent runs
 * wait for each other. Where programs use the tables, each attempt waits for a short time only and lets the programs
 * go on before the next one.
 *
 * Afterwards each program's role has exactly the rights that rights.ts lists, and no older program may start any more
 * (`letOlderStart`). An older program that was allowed to start changes neither.
 *
 * @returns the names of the migrations that were applied
 * @throws UnsupportedDatabaseError, SchemaUnsupportedError, SchemaNewerError, SchemaBusyError, DatabaseUnavailableError,
 * DatabaseRefusedError
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const { known = migrations } = options;
  const work = async (database: Database): Promise<string[]> => {
    const applied = await runMigrations(database, { ...options, known });
    const { unknown } = await readSchema(database, known);
    // An older program that `letOlderStart` allowed to start runs `migrate` first, and must not take
    // back its own permission.
    if (unknown.length === 0) {
      await database.query({ text: DISALLOW_OLDER });
      // Leaves out roles that this user may not create. `prepareLogins` says what an administrator has to do.
      await grantRights(database);
    }
    return applied;
  };
  return underMigrationLock(url, work, known);
}

/**
 * Lets programs start that do not know these migrations, until the next `migrate`. Each of the migrations must allow
 * it. Only the newest program can do this, because only it knows what its migrations allow.
 *
 * @param names of the migrations, as the error SCHEMA_NEWER of the older program lists them
 * @throws OlderRefusedError, and what `migrate` throws
 */
export async function letOlderStart(
  url: string,
  names: readonly string[],
  known: readonly MigrationClass[] = migrations,
): Promise<void> {
  const own = known.map((Migration) => new Migration());
  for (const name of names) {
    const migration = own.find((one) => one.name === name);
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
  const work = async (database: Database): Promise<void> => {
    const changed = await database.query<{ name: string }>(ALLOW_OLDER({ names }));
    const absent = names.filter((name) => !changed.some((row) => row.name === name));
    if (absent.length > 0) {
      throw new OlderRefusedError(`${absent.join(', ')} is not applied to this database.`);
    }
  };
  await underMigrationLock(url, work, known);
}

async function runMigrations(
  database: Database,
  { tries = 20, ...options }: MigrateOptions,
): Promise<string[]> {
  await database.query({ text: `CREATE SCHEMA IF NOT EXISTS ${MIGRATION_SCHEMA}` });
  for (let left = tries; ; left--) {
    try {
      return await inOneTransaction(database, options);
    } catch (error) {
      if (!waitedForTable(error)) throw error;
      if (left <= 1) throw new SchemaBusyError(error);
    }
    await sleep(PAUSE_MS);
  }
}

async function inOneTransaction(
  { dataSource }: Database,
  { stakeSets = [], known = migrations }: Omit<MigrateOptions, 'tries'>,
): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    const executor = new MigrationExecutor(dataSource, runner);
    // All migrations run in the transaction of this runner.
    executor.transaction = 'none';
    const applied = await executor.executePendingMigrations();
    const ofSets = await upgradeSets(runner, stakeSets, known);
    await runner.commitTransaction();
    return [...applied.map(({ name }) => name), ...ofSets];
  } catch (error) {
    // A lost connection has lost its transaction too, and the original error tells why.
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
