/** The first simulated worlds of the core; `npm run simulate -- core --seeds 20000` runs any number of them. */
import { expect, it } from '@jest/globals';
import { coreSimulation } from './core.simulation.js';
import { failureReport, runOnce, shrink } from '../kernel/index.js';

const SEEDS = 300;

it('makes the same trace from the same seed, byte for byte', async () => {
  const hashes = async (): Promise<string[]> => {
    const found: string[] = [];
    for (let seed = 1; seed <= 10; seed++)
      found.push((await runOnce(coreSimulation, seed)).trace.hash());
    return found;
  };
  const once = await hashes();
  expect(await hashes()).toEqual(once);
  expect(new Set(once).size).toBe(10);
});

it('holds the index and the answers to the chain', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const result = await runOnce(coreSimulation, seed);
    if (result.failure === undefined) continue;
    throw new Error(failureReport(coreSimulation, result, await shrink(coreSimulation, result)));
  }
}, 300_000);
