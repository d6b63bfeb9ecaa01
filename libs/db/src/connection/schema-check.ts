import { type QueryResultRow } from 'pg';
import { PermanentError } from '#libs/domain';
import { migrations } from '../migrations/index.js';
import { DatabaseRefusedError } from './database.error.js';

/** Where the migrations keep their own record. */
export const MIGRATION_SCHEMA = 'lowmark';

/** The migrations of a database, held against those of this program. */
export interface SchemaState {
  /** Recorded in the database and unknown here: a newer program made them. Oldest first. */
  readonly unknown: readonly string[];
  /** Known here and not applied yet. Oldest first. */
  readonly missing: readonly string[];
}

/** The database was migrated by a newer program: what this one would write could be wrong for it. */
export class SchemaNewerError extends PermanentError {
  constructor(unknown: readonly string[]) {
    super(
      'SCHEMA_NEWER',
      `The database was migrated by a newer version of this program (${unknown.join(', ')}). Start that version; to go back to this ` +
        'one, restore the backup that was taken before the migration. Nothing was changed.',
    );
  }
}

interface Queries {
  query<R extends QueryResultRow>(statement: { name: string; text: string }): Promise<R[]>;
}

const RECORDED = {
  name: 'migrations_recorded',
  text: `SELECT name FROM ${MIGRATION_SCHEMA}.migration ORDER BY timestamp`,
};

/** No schema, no table; or no right to read it, which the reading role has had since there was this check. */
const OLDER = ['3F000', '42P01', '42501'];

/** One cheap statement. An empty database lacks all of them. */
export async function readSchema(database: Queries): Promise<SchemaState> {
  const known: string[] = migrations.map((Migration) => new Migration().name);
  const recorded = await recordedNames(database);
  return {
    unknown: recorded.filter((name) => !known.includes(name)),
    missing: known.filter((name) => !recorded.includes(name)),
  };
}

/** A database without any migration, or without the newest, is none of its business. @throws SchemaNewerError */
export async function requireKnownSchema(database: Queries): Promise<void> {
  const { unknown } = await readSchema(database);
  if (unknown.length > 0) throw new SchemaNewerError(unknown);
}

async function recordedNames(database: Queries): Promise<string[]> {
  try {
    return (await database.query<{ name: string }>(RECORDED)).map(({ name }) => name);
  } catch (error) {
    if (error instanceof DatabaseRefusedError && OLDER.includes(error.sqlState)) return [];
    throw error;
  }
}
