import { type QueryResultRow } from 'pg';
import { PermanentError } from '#libs/domain';
import { migrations } from './index.js';
import { isNotMigrated, isWithoutRight } from '../connection/database.error.js';
import { type MigrationClass } from './schema-migration.js';

/** The schema in which the migrations are recorded. */
export const MIGRATION_SCHEMA = 'lowmark';

/** Of the first migration. Only development versions had older ones. */
const FIRST_TIMESTAMP = 1_770_000_000_000;

/** The migrations of a database, compared with those of this program. */
interface SchemaState {
  /** Migrations of a newer program: recorded in the database, unknown to this program. Oldest first. */
  readonly unknown: readonly string[];
  /** Migrations of `unknown` with which an operator lets this program start (`letOlderStart`). */
  readonly accepted: readonly string[];
  /** Migrations that this program knows and that are not applied yet. Oldest first. */
  readonly missing: readonly string[];
}

/** A newer program migrated the database, so that rows which this program writes could be wrong. */
export class SchemaNewerError extends PermanentError {
  constructor(unknown: readonly string[]) {
    super(
      'SCHEMA_NEWER',
      `The database was migrated by a newer version of this program (${unknown.join(', ')}). Start that version; for the way back to ` +
        'this one see docs/operating/upgrade.md of the newer version: its `migrate --let-older-start` where these migrations allow it, else ' +
        'the backup that was taken before them. Nothing was changed.',
    );
  }
}

export class SchemaOlderError extends PermanentError {
  constructor(missing: readonly string[]) {
    super(
      'SCHEMA_OLDER',
      `The database lacks migrations of this program: ${missing.join(', ')}. ` +
        'Run `npm run migrate` of this version, then start again; see docs/operating/upgrade.md.',
    );
  }
}

export class SchemaUnsupportedError extends PermanentError {
  constructor() {
    super(
      'SCHEMA_UNSUPPORTED',
      'The database was made by a development version, which has no upgrade. Make a new database, run `npm run migrate`, and index again.',
    );
  }
}

/**
 * What a program demands of the schema:
 * - `current`: all migrations that the program knows and no others, as long-running services demand;
 * - `not-newer`: no migrations that the program does not know;
 * - `any`: nothing.
 */
export type SchemaDemand = 'current' | 'not-newer' | 'any';

interface Queries {
  query<R extends QueryResultRow>(statement: { name: string; text: string }): Promise<R[]>;
}

const RECORDED = {
  name: 'migrations_recorded',
  // With to_jsonb the query also works before the first migration has added the column `older_may_start`.
  text: `SELECT name, coalesce((to_jsonb(m) ->> 'older_may_start')::boolean, false) AS accepted,
      timestamp < ${FIRST_TIMESTAMP} AS "isUnsupported"
    FROM ${MIGRATION_SCHEMA}.migration m ORDER BY timestamp`,
};

/**
 * Compares by one cheap statement. In an empty database all migrations are missing.
 * @param of the migrations of the program
 * @throws SchemaUnsupportedError
 */
export async function readSchema(
  database: Queries,
  of: readonly MigrationClass[] = migrations,
): Promise<SchemaState> {
  const known = of.map((Migration) => new Migration().name);
  const recorded = await recordedMigrations(database);
  if (recorded.some(({ isUnsupported }) => isUnsupported)) throw new SchemaUnsupportedError();
  const unknown = recorded.filter(({ name }) => !known.includes(name));
  return {
    unknown: unknown.map(({ name }) => name),
    accepted: unknown.filter(({ accepted }) => accepted).map(({ name }) => name),
    missing: known.filter((known) => !recorded.some(({ name }) => name === known)),
  };
}

/** Whether the database has migrations of a newer program, accepted or not. */
export async function isNewerSchema(database: Queries): Promise<boolean> {
  return (await readSchema(database)).unknown.length > 0;
}

/**
 * Migrations that an operator accepted for an older program do not make the schema newer.
 * @throws SchemaUnsupportedError, SchemaNewerError, SchemaOlderError
 */
export async function requireSchema(
  database: Queries,
  demand: SchemaDemand = 'not-newer',
  of: readonly MigrationClass[] = migrations,
): Promise<void> {
  if (demand === 'any') return;
  const { unknown, accepted, missing } = await readSchema(database, of);
  if (unknown.length > accepted.length) throw new SchemaNewerError(unknown);
  if (demand === 'current' && missing.length > 0) throw new SchemaOlderError(missing);
}

interface RecordedMigration {
  readonly name: string;
  readonly accepted: boolean;
  readonly isUnsupported: boolean;
}

async function recordedMigrations(database: Queries): Promise<RecordedMigration[]> {
  try {
    return await database.query<RecordedMigration & QueryResultRow>(RECORDED);
  } catch (error) {
    // The schema does not exist yet, or the user has no right to the table.
    if (isNotMigrated(error) || isWithoutRight(error)) return [];
    throw error;
  }
}
