import { type QueryRunner } from 'typeorm';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { type MigrationClass, type SchemaMigration } from '../migrations/schema-migration.js';
import { migrations } from '../migrations/index.js';
import { schemaOf, sqlInSchema } from '../connection/stake-set.js';

/** The migrations of the schema of a stake set, oldest first. */
function migrationsOfSets(known: readonly MigrationClass[]): SchemaMigration[] {
  return known.map((Migration) => new Migration()).filter(({ ofSets }) => ofSets === true);
}

interface SetRow {
  readonly name: string;
  readonly migrations: readonly string[];
}

/**
 * Creates the wanted sets that do not exist, and brings all existing sets up to date, wanted or not.
 * @param runner in the transaction of the other migrations
 * @returns the applied migrations, for example `Staking1770000000001 of golf`
 */
export async function upgradeSets(
  runner: QueryRunner,
  wanted: readonly string[],
  known: readonly MigrationClass[],
): Promise<string[]> {
  const rows = (await runner.query(
    'SELECT name, migrations FROM lowmark.stake_set ORDER BY name',
  )) as SetRow[];
  const made = wanted.filter((set) => set !== DEFAULT_STAKE_SET && !rows.some(isCalled(set)));
  const sets = [...rows, ...made.map((name) => ({ name, migrations: [] }))];
  const applied: string[] = [];
  for (const set of sets) {
    const names = await upgradeSet(runner, set, migrationsOfSets(known));
    applied.push(...names.map((name) => `${name} of ${set.name}`));
  }
  return applied;
}

function isCalled(set: string): (row: SetRow) => boolean {
  return ({ name }) => name === set;
}

/** The names of the migrations of a set, oldest first. */
export const SET_MIGRATION_NAMES: readonly string[] = migrationsOfSets(migrations).map(
  ({ name }) => name,
);

/**
 * Applies the migrations that a schema lacks.
 * @param applied the names of those that it has
 * @returns the names of the others
 */
export async function upgradeSchema(
  client: { query(sql: string): Promise<unknown> },
  schema: string,
  applied: readonly string[],
  ofSets: readonly SchemaMigration[] = migrationsOfSets(migrations),
): Promise<string[]> {
  // The only method of the runner that the migrations of stake sets use.
  const query = (sql: string): Promise<unknown> => client.query(sqlInSchema(sql, schema));
  const inSchema = { query } as QueryRunner;
  const missing = ofSets.filter(({ name }) => !applied.includes(name));
  for (const migration of missing) await migration.up(inSchema);
  return missing.map((migration) => migration.name);
}

async function upgradeSet(
  runner: QueryRunner,
  { name, migrations }: SetRow,
  ofSets: readonly SchemaMigration[],
): Promise<string[]> {
  const applied = await upgradeSchema(runner, schemaOf(name), migrations, ofSets);
  if (applied.length > 0) {
    await runner.query(
      `INSERT INTO lowmark.stake_set AS s (name, migrations) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET migrations = s.migrations || excluded.migrations`,
      [name, applied],
    );
  }
  return applied;
}
