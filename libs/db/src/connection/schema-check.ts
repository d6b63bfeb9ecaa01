import { type QueryResultRow } from 'pg';
import { PermanentError } from '#libs/domain';
import { migrations } from '../migrations/index.js';
import { isNotMigrated, isWithoutRight } from './database.error.js';

/** Where the migrations keep their own record. */
export const MIGRATION_SCHEMA = 'lowmark';

/** The migrations of a database, held against those of this program. */
interface SchemaState {
  /** Recorded in the database and unknown here: a newer program made them. Oldest first. */
  readonly unknown: readonly string[];
  /** Those of them that an operator lets this program start on. */
  readonly accepted: readonly string[];
  /** Known here and not applied yet. Oldest first. */
  readonly missing: readonly string[];
}

/** The database was migrated by a newer program: what this one would write could be wrong for it. */
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

/**
 * What a program demands of the schema: to have all that it knows and nothing that it does not, as a service does that runs for
 * long; not to be newer; or nothing.
 */
export type SchemaDemand = 'current' | 'not-newer' | 'any';

interface Queries {
  query<R extends QueryResultRow>(statement: { name: string; text: string }): Promise<R[]>;
}

const RECORDED = {
  name: 'migrations_recorded',
  // Read in this way it may also lack the column, which is younger than the table.
  text: `SELECT name, coalesce((to_jsonb(m) ->> 'older_may_start')::boolean, false) AS accepted
    FROM ${MIGRATION_SCHEMA}.migration m ORDER BY timestamp`,
};

/** One cheap statement. An empty database lacks all of them. */
export async function readSchema(database: Queries): Promise<SchemaState> {
  const known: string[] = migrations.map((Migration) => new Migration().name);
  const recorded = await recordedMigrations(database);
  const unknown = recorded.filter(({ name }) => !known.includes(name));
  return {
    unknown: unknown.map(({ name }) => name),
    accepted: unknown.filter(({ accepted }) => accepted).map(({ name }) => name),
    missing: known.filter((known) => !recorded.some(({ name }) => name === known)),
  };
}

/** Whether a newer program migrated it, accepted or not. */
export async function isNewerSchema(database: Queries): Promise<boolean> {
  return (await readSchema(database)).unknown.length > 0;
}

/**
 * Migrations that an operator accepted for an older program do not make the schema newer.
 * @throws SchemaNewerError, SchemaOlderError
 */
export async function requireSchema(
  database: Queries,
  demand: SchemaDemand = 'not-newer',
): Promise<void> {
  if (demand === 'any') return;
  const { unknown, accepted, missing } = await readSchema(database);
  if (unknown.length > accepted.length) throw new SchemaNewerError(unknown);
  if (demand === 'current' && missing.length > 0) throw new SchemaOlderError(missing);
}

interface RecordedMigration {
  readonly name: string;
  readonly accepted: boolean;
}

async function recordedMigrations(database: Queries): Promise<RecordedMigration[]> {
  try {
    return await database.query<RecordedMigration & QueryResultRow>(RECORDED);
  } catch (error) {
    // Without the right to read it: the reading role has had it since there was this check.
    if (isNotMigrated(error) || isWithoutRight(error)) return [];
    throw error;
  }
}
