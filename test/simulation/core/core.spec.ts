/** The first simulated worlds of the core; `npm run simulate -- core --seeds 20000` runs any number of them. */
import { describe, expect, it } from '@jest/globals';
import { requireNoFailure, runOnce, seedsFrom } from '../kernel/index.js';
import { coreSimulation } from './core.simulation.js';
import { NOTABLE_SEEDS } from './notable-seeds.js';

const SEEDS = 5000;
const LIMIT_MS = 900_000;

describe('the core in simulated worlds', () => {
  it('makes the same trace from the same seed, byte for byte', async () => {
    const hashes = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const seed of seedsFrom(1, 10))
        found.push((await runOnce(coreSimulation, seed)).trace.hash());
      return found;
    };
    const once = await hashes();
    expect(await hashes()).toEqual(once);
    expect(new Set(once).size).toBe(10);
  });

  it.each(NOTABLE_SEEDS)(
    'holds the index and the answers to the chain with seed $seed: $what',
    async ({ seed }) => {
      await requireNoFailure(coreSimulation, [seed]);
    },
    LIMIT_MS,
  );

  it(
    `holds the index and the answers to the chain with the seeds 1 to ${SEEDS}`,
    async () => {
      await requireNoFailure(coreSimulation, seedsFrom(1, SEEDS));
    },
    LIMIT_MS,
  );
});
