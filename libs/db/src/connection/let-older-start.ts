import { PermanentError } from '#libs/domain';
import { migrations } from '../migrations/index.js';
import { onSchema } from './migrate.js';
import { MIGRATION_SCHEMA } from './schema-check.js';
import { type SchemaMigration } from './schema-migration.js';

/** Migrations that an older program must not run on, or that there are not. */
export class OlderRefusedError extends PermanentError {
  constructor(reason: string) {
    super('OLDER_REFUSED', `${reason} Nothing was changed. See docs/operating/upgrade.md.`);
  }
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
    const changed = await database.query<{ name: string }>(ACCEPT, [names]);
    const absent = names.filter((name) => !changed.some((row) => row.name === name));
    if (absent.length > 0) {
      throw new OlderRefusedError(`${absent.join(', ')} is not applied to this database.`);
    }
  });
}

// All of them or none: a name that is not there leaves the others as they were.
const ACCEPT = {
  text: `UPDATE ${MIGRATION_SCHEMA}.migration SET older_may_start = true
    WHERE name = ANY ($1) AND (SELECT count(*) FROM ${MIGRATION_SCHEMA}.migration WHERE name = ANY ($1)) = cardinality($1::text[])
    RETURNING name`,
};
