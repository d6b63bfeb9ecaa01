/** The first simulated worlds of the engine; `npm run simulate -- engine --seeds 20000` runs any number of them. */
import { describe, expect, it } from '@jest/globals';
import { failureReport, runOnce, shrink } from '../kernel/index.js';
import { engineSimulation } from './engine.simulation.js';
import { NOTABLE_SEEDS } from './notable-seeds.js';

const SEEDS = 300;
const LIMIT_MS = 300_000;

async function requireNoDeviation(seed: number): Promise<void> {
  const result = await runOnce(engineSimulation, seed);
  if (result.failure === undefined) return;
  throw new Error(failureReport(engineSimulation, result, await shrink(engineSimulation, result)));
}

describe('the engine in simulated worlds', () => {
  it(
    'makes one trace of one seed',
    async () => {
      for (let seed = 1; seed <= 10; seed++) {
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
      await requireNoDeviation(seed);
    },
    LIMIT_MS,
  );

  it(
    `keeps to its rules with the seeds 1 to ${SEEDS}`,
    async () => {
      for (let seed = 1; seed <= SEEDS; seed++) await requireNoDeviation(seed);
    },
    LIMIT_MS,
  );
});
