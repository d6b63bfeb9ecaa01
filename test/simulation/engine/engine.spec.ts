/** The first simulated worlds of the engine; `npm run simulate -- engine --seeds 20000` runs any number of them. */
import { describe, expect, it } from '@jest/globals';
import { requireNoFailure, runOnce, seedsFrom } from '../kernel/index.js';
import { engineSimulation } from './engine.simulation.js';
import { NOTABLE_SEEDS } from './notable-seeds.js';

const SEEDS = 5000;
const LIMIT_MS = 900_000;

describe('the engine in simulated worlds', () => {
  it(
    'makes one trace of one seed',
    async () => {
      for (const seed of seedsFrom(1, 10)) {
        const [one, again] = [
          await runOnce(engineSimulation, seed),
          await runOnce(engineSimulation, seed),
        ];
        expect(again.trace.hash()).toBe(one.trace.hash());
      }
    },
    LIMIT_MS,
  );

  it.each(NOTABLE_SEEDS)(
    'keeps to its rules with seed $seed: $what',
    async ({ seed }) => {
      await requireNoFailure(engineSimulation, [seed]);
    },
    LIMIT_MS,
  );

  it(
    `keeps to its rules with the seeds 1 to ${SEEDS}`,
    async () => {
      await requireNoFailure(engineSimulation, seedsFrom(1, SEEDS));
    },
    LIMIT_MS,
  );
});
