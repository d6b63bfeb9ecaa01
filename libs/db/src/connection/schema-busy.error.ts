import { RetryableError } from '#libs/domain';

/** A table that has to be changed was in use all the time. Nothing was changed. */
export class SchemaBusyError extends RetryableError {
  constructor(cause: unknown) {
    super(
      'SCHEMA_BUSY',
      'A table that has to be changed is in use by a long transaction, however long one waited. Find it (pg_stat_activity, xact_start), ' +
        'let it end, and run `migrate` again. Nothing was changed.',
      { cause },
    );
  }
}
