import { DatabaseRefusedError } from '#libs/db';

/** PostgreSQL's codes for a schema or table that is not there. */
const NOT_MIGRATED = ['3F000', '42P01'];

export function isNotMigrated(error: unknown): boolean {
  return error instanceof DatabaseRefusedError && NOT_MIGRATED.includes(error.sqlState);
}
