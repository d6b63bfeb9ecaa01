import { type QueryRunner } from 'typeorm';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { DayTotals1760000007000 } from '../migrations/day-totals.js';
import { AuditSums1760000007900 } from '../migrations/audit-sums.js';
import { IndexRepair1760000007011 } from '../migrations/index-repair.js';
import { Partitions1760000000044 } from '../migrations/partitions.js';
import { SealedDays1760000000033 } from '../migrations/sealed-days.js';
import { StakingIndex1760000000000 } from '../migrations/staking-index.js';
import {
  IndexGeneration1760000000007,
  AuditRun1760000000010,
  PriceHold1760000000015,
} from '../migrations/staking-state.js';
import { schemaOf, sqlInSchema } from './stake-set.js';

/**
 * The migrations of the schema of a stake set, oldest first. A new migration that touches the schema `staking` touches
 * nothing else, and is listed both here and in migrations/index.ts.
 */
export const SET_MIGRATIONS = [
  StakingIndex1760000000000,
  IndexGeneration1760000000007,
  AuditRun1760000000010,
  PriceHold1760000000015,
  SealedDays1760000000033,
  Partitions1760000000044,
  DayTotals1760000007000,
  IndexRepair1760000007011,
  AuditSums1760000007900,
];

interface SetRow {
  readonly name: string;
  readonly migrations: readonly string[];
}

/**
 * Creates the wanted sets that do not exist, and brings all existing sets up to date, wanted or not.
 * @param runner in the transaction of the other migrations
 * @returns the applied migrations, for example `StakingIndex1760000000000 of golf`
 */
export async function upgradeSets(
  runner: QueryRunner,
  wanted: readonly string[],
): Promise<string[]> {
  const rows = (await runner.query(
    'SELECT name, migrations FROM lowmark.stake_set ORDER BY name',
  )) as SetRow[];
  const made = wanted.filter((set) => set !== DEFAULT_STAKE_SET && !rows.some(isCalled(set)));
  const sets = [...rows, ...made.map((name) => ({ name, migrations: [] }))];
  const applied: string[] = [];
  for (const set of sets) {
    const names = await upgradeSet(runner, set);
    applied.push(...names.map((name) => `${name} of ${set.name}`));
  }
  return applied;
}

function isCalled(set: string): (row: SetRow) => boolean {
  return ({ name }) => name === set;
}

async function upgradeSet(runner: QueryRunner, { name, migrations }: SetRow): Promise<string[]> {
  const schema = schemaOf(name);
  // The only method of the runner that the migrations of stake sets use.
  const query = (sql: string): Promise<unknown> => runner.query(sqlInSchema(sql, schema));
  const inSchema = { query } as QueryRunner;
  const missing = SET_MIGRATIONS.map((Migration) => new Migration()).filter(
    (migration) => !migrations.includes(migration.name),
  );
  for (const migration of missing) await migration.up(inSchema);
  const applied = missing.map((migration) => migration.name);
  if (applied.length > 0) {
    await runner.query(
      `INSERT INTO lowmark.stake_set AS s (name, migrations) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET migrations = s.migrations || excluded.migrations`,
      [name, applied],
    );
  }
  return applied;
}
