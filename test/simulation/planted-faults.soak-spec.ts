/**
 * Faults of `faults/`, planted in a copy of the tree, are found by the simulation of their folder: with PLANTED_FAULTS=all
 * each of them, which takes half an hour, otherwise one of each simulation.
 */
import { describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findPlantedFault } from './planted-faults.js';

const ROOT = resolve(import.meta.dirname, '../..');
const FAULTS = join(import.meta.dirname, 'faults');
const SEEDS = 20_000;

const SAMPLE = ['02-a-change-at-midnight-counts-the-day-before', 'retry-deducts-twice'];

const all = readdirSync(FAULTS).flatMap((simulation) =>
  readdirSync(join(FAULTS, simulation)).map((file) => ({
    simulation,
    name: file.replace('.patch', ''),
    patch: join(FAULTS, simulation, file),
  })),
);

const faults =
  process.env['PLANTED_FAULTS'] === 'all' ? all : all.filter(({ name }) => SAMPLE.includes(name));

describe('planted faults', () => {
  it.each(faults)(
    '$simulation: $name',
    async ({ simulation, name, patch }) => {
      const found = await findPlantedFault(ROOT, { patch, simulation, seeds: SEEDS });
      console.info(`${simulation} ${name}: seed ${found.seed}, ${found.kind}, ${found.seconds} s`);
      expect(found.seed).toBeLessThanOrEqual(SEEDS);
    },
    30 * 60_000,
  );
});
