/**
 * Faults of `faults/`, planted in a copy of the tree, are found by the simulation of their folder, with a seed that is
 * clean without the fault: with PLANTED_FAULTS=all each of them, otherwise one of each simulation. Prints a table of
 * the faults with the seed and the time that found them.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolve } from 'node:path';
import { FaultBench, plantedFaults } from './planted-faults.js';

const ROOT = resolve(import.meta.dirname, '../..');
const SEEDS = 20_000;
const LIMIT_MS = 30 * 60_000;

const SAMPLE = ['02-a-change-at-midnight-counts-the-day-before', 'retry-deducts-twice'];

const faults =
  process.env['PLANTED_FAULTS'] === 'all'
    ? plantedFaults
    : plantedFaults.filter(({ name }) => SAMPLE.includes(name));

describe('planted faults', () => {
  const table: string[][] = [['simulation', 'fault', 'seed', 'seconds', 'deviation']];
  let bench: FaultBench;
  beforeAll(async () => {
    bench = await FaultBench.build(ROOT);
  }, LIMIT_MS);
  afterAll(async () => {
    console.info(textOf(table));
    await bench.close();
  });

  it.each(faults)(
    '$simulation: $name',
    async ({ simulation, name, patch }) => {
      const found = await bench.find({ patch, simulation, seeds: SEEDS });
      const { seed, kind, seconds, withoutFault } = found;
      table.push([simulation, name, String(seed ?? 'none'), String(seconds), kind]);
      expect(seed).toBeLessThanOrEqual(SEEDS);
      expect(withoutFault).toBeUndefined();
    },
    LIMIT_MS,
  );
});

function textOf(table: readonly (readonly string[])[]): string {
  const widths = table[0]?.map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  return table
    .map((row) => row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join('  '))
    .join('\n');
}
