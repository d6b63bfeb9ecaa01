import { type MigrationInterface, type QueryRunner } from 'typeorm';

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

/** A step that is nothing but statements. It is recorded under the name of its class, whose digits are its place in the order (.swcrc keeps the names of classes). */
export abstract class SqlMigration implements SchemaMigration {
  readonly name = this.constructor.name;
  abstract readonly upStatements: readonly string[];
  /** No program takes a step back; tests do. */
  abstract readonly downStatements: readonly string[];

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of this.upStatements) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of this.downStatements) await runner.query(statement);
  }
}
