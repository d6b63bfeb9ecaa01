/** Migrations of a next version, which tests bring on top of those of this one. */
import { type MigrationClass, type SchemaMigration, SqlMigration } from './schema-migration.js';

export interface NextMigration extends Partial<Omit<SchemaMigration, 'up' | 'down'>> {
  /** Its last 13 digits are its place in the order. */
  readonly name: string;
  readonly statements?: readonly string[];
}

export function aMigration(given: NextMigration): MigrationClass {
  return class extends SqlMigration {
    readonly statements: readonly string[] = [];

    constructor() {
      super();
      Object.assign(this, given);
    }
  };
}
