import { SqlMigration } from './schema-migration.js';
import { NEXT_PARTITION } from '../schema/partitions.js';
import { SEALED_DAYS } from '../schema/sealed-days.js';
import { STAKING } from '../schema/staking.js';

/** The schema of a stake set: `staking`, and that of each further set. */
export class Staking1770000000001 extends SqlMigration {
  readonly ofSets = true;
  // The last one copies the triggers of the tables.
  readonly statements = [STAKING, SEALED_DAYS, NEXT_PARTITION];
}
