/** Worlds of the core on the stores of production: the same traces as on those in memory. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database } from '#libs/db';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { runOnce, seedsFrom } from '../kernel/index.js';
import { coreSimulationOn } from './core.simulation.js';
import { PostgresDatabase } from './postgres/postgres-database.js';
import { MemoryDatabase } from './world-database.js';

const SEEDS = 20;

let test: TestDatabase;
let database: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
});
afterAll(() => test.drop());

const onPostgres = coreSimulationOn((scheduler) => new PostgresDatabase(database, scheduler));
const inMemory = coreSimulationOn(() => {
  const { tables, index, snapshots, days, writer, lows, audits } = new MemoryDatabase();
  const refresh = (): Promise<void> => Promise.resolve();
  return { tables, index, snapshots, prices: undefined, days, writer, lows, audits, refresh };
});

/** PostgreSQL draws a sample at random: as many wallets as the sample has are asked for. */
function withoutSamples(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/(, call [^,:]+)+/g, ''));
}

it.each([...seedsFrom(1, SEEDS)])(
  'holds the index and the answers to the chain, seed %i',
  async (seed) => {
    await test.empty();
    const stored = await runOnce(onPostgres, seed);
    expect(stored.failure).toBeUndefined();
    const remembered = await runOnce(inMemory, seed);
    expect(withoutSamples(stored.trace.lines)).toEqual(withoutSamples(remembered.trace.lines));
  },
);
