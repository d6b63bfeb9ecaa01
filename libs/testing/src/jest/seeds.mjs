/**
 * The seeds of all randomised tests. The fixed seed makes two runs of the same code do the same; the other seed is new
 * in each run, so that over time more cases are tried. TEST_SEED sets the second seed, to repeat a run.
 */
import { randomInt } from 'node:crypto';

const FIXED = 20_261_121;
const LARGEST = 2 ** 31 - 1;

/** @returns both seeds, in the form in which the workers inherit them: the environment variable LOWMARK_TEST_SEEDS */
export function chooseSeeds({ TEST_SEED: given } = process.env) {
  if (given !== undefined && !(/^\d{1,10}$/.test(given) && Number(given) <= LARGEST)) {
    throw new Error(`TEST_SEED must be a whole number from 0 to ${LARGEST}.`);
  }
  return `${FIXED},${given ?? randomInt(LARGEST)}`;
}

/** @returns the first line of a run's log; a failing test names its seed itself */
export function seedNote({ LOWMARK_TEST_SEEDS: seeds } = process.env) {
  const [, ofThisRun] = seeds.split(',');
  return `Seed of this run: TEST_SEED=${ofThisRun} repeats what it chose by chance.\n`;
}
