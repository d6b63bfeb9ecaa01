import { type MigrationInterface, type QueryRunner } from 'typeorm';

export interface SchemaMigration extends MigrationInterface {
  readonly name: string;
  /**
   * After this migration the program of the previous release works as before and writes nothing that a newer one would
   * misread: the migration adds only tables, indexes, and columns whose default is true of that program's rows. An
   * operator may let that program start again.
   * Absent: the only way back is the backup.
   */
  readonly olderMayStart?: true;
  /** It changes the schema `staking` and nothing else, and is applied to the schema of each further stake set, too. */
  readonly ofSets?: true;
}

export type MigrationClass = new () => SchemaMigration;

/**
 * A migration that consists of statements only. It is recorded under the name of its class, whose digits are its place
 * in the order (.swcrc keeps the names of classes).
 */
export abstract class SqlMigration implements SchemaMigration {
  readonly name = this.constructor.name;
  abstract readonly statements: readonly string[];

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of this.statements) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('no migration is taken back'));
  }
}
