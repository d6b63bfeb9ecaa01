/**
 * The seeds of all tests that roll dice: one that is always the same, so that two runs of the same code do the same, and one that is new
 * with each run, so that over time more is tried. TEST_SEED gives the new one again.
 */
import { randomInt } from 'node:crypto';

const FIXED = 20_261_121;
const LARGEST = 2 ** 31 - 1;

/** @returns both, as the workers inherit them with the environment in LOWMARK_TEST_SEEDS */
export function chooseSeeds({ TEST_SEED: given } = process.env) {
  if (given !== undefined && !(/^\d{1,10}$/.test(given) && Number(given) <= LARGEST)) {
    throw new Error(`TEST_SEED must be a whole number from 0 to ${LARGEST}.`);
  }
  return `${FIXED},${given ?? randomInt(LARGEST)}`;
}

/** For the log of a run, which begins with it; a test that fails names its seed itself. */
export function seedNote({ LOWMARK_TEST_SEEDS: seeds } = process.env) {
  const [, ofThisRun] = seeds.split(',');
  return `Seed of this run: TEST_SEED=${ofThisRun} repeats what it chose by chance.\n`;
}
