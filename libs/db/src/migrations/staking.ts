import { SqlMigration } from '../connection/schema-migration.js';
import { NEXT_PARTITION } from '../schema/partitions.js';
import { SEALED_DAYS } from '../schema/sealed-days.js';
import {
  STAKING_AUDITS,
  STAKING_GENERATION,
  STAKING_GUARDS,
  STAKING_PRICES,
  STAKING_TABLES,
} from '../schema/staking.js';

/** The schema of a stake set: `staking`, and that of each further set. */
export class Staking1770000000001 extends SqlMigration {
  readonly ofSets = true;
  readonly statements = [
    STAKING_TABLES,
    STAKING_GUARDS,
    STAKING_GENERATION,
    STAKING_PRICES,
    STAKING_AUDITS,
    SEALED_DAYS,
    // Copies the triggers of the tables.
    NEXT_PARTITION,
  ];
}
