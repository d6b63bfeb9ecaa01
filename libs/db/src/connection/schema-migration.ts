import { type MigrationInterface } from 'typeorm';

/** A step of the schema. */
export interface SchemaMigration extends MigrationInterface {
  readonly name: string;
  /**
   * The program of the release before works on the schema after it as it did before, and writes nothing that a newer one would
   * misread: only new tables, new columns with a default that is true of its rows, new indexes. Then an operator may let it start
   * again. Absent: the way back is the backup.
   */
  readonly olderMayStart?: true;
  /** While there are such rows the older program would be wrong after all: what an operator has to do before it may start. */
  readonly olderMisreads?: { readonly rows: string; readonly remedy: string };
}
