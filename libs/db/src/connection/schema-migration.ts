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
}
