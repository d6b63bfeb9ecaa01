/**
 * Runs worlds of the core on the stores of production, and compares each trace with that of the same world in memory.
 *
 *   node dist/test/simulation/core/on-postgres.js DATABASE URL SEEDS    the database is emptied before each world
 */
import { TestDatabase } from '#libs/testing/database';
import { runOnce, seedsFrom } from '../kernel/index.js';
import { coreSimulationOn } from './core.simulation.js';
import { PostgresDatabase } from './postgres/postgres-database.js';
import { MemoryDatabase } from './world-database.js';

const [name = '', url = '', seeds = ''] = process.argv.slice(2);
const test = new TestDatabase(name, url);
const database = await test.open();

const onPostgres = coreSimulationOn((scheduler) => new PostgresDatabase(database, scheduler));
const inMemory = coreSimulationOn(() => {
  const { tables, index, snapshots, days, writer, lows, audits } = new MemoryDatabase();
  const refresh = (): Promise<void> => Promise.resolve();
  return { tables, index, snapshots, prices: undefined, days, writer, lows, audits, refresh };
});

/** PostgreSQL draws a sample at random: as many wallets as the sample has are asked for. */
function withoutSamples(lines: readonly string[]): string {
  return lines.map((line) => line.replace(/(, call [^,:]+)+/g, '')).join('\n');
}

async function compareTraces(seed: number): Promise<void> {
  await test.empty();
  const stored = await runOnce(onPostgres, seed);
  if (stored.failure) throw new Error(`seed ${seed}: ${stored.failure.message}`);
  const remembered = await runOnce(inMemory, seed);
  const [one, other] = [stored, remembered].map(({ trace }) => withoutSamples(trace.lines));
  if (one !== other)
    throw new Error(`seed ${seed} on PostgreSQL:\n${one ?? ''}\nin memory:\n${other ?? ''}`);
}

try {
  for (const seed of seedsFrom(1, Number(seeds))) await compareTraces(seed);
  console.log(`${seeds} seeds: the same traces`);
} finally {
  await test.close();
}
