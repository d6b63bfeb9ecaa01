import { DatabaseRefusedError } from '#libs/db';

/** PostgreSQL's codes for a schema or table that is not there. */
const NOT_MIGRATED = ['3F000', '42P01'];

export function isNotMigrated(error: unknown): boolean {
  return error instanceof DatabaseRefusedError && NOT_MIGRATED.includes(error.sqlState);
}

/** PostgreSQL's code for what this user may not do. */
const WITHOUT_RIGHT = '42501';

export function isWithoutRight(error: unknown): boolean {
  return error instanceof DatabaseRefusedError && error.sqlState === WITHOUT_RIGHT;
}
