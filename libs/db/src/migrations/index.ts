import { type MigrationClass } from './schema-migration.js';
import { Schema1770000000000 } from './schema.js';
import { Staking1770000000001 } from './staking.js';

/** All migrations, oldest first. One that was released is never edited. */
export const migrations: readonly MigrationClass[] = [Schema1770000000000, Staking1770000000001];
