/** A seed of a randomised test. */
export interface TestSeed {
  /** Text for the title of the test. */
  readonly which: string;
  readonly seed: number;
}

/** The fixed seed, and the seed of the test run, which `TEST_SEED` sets (libs/testing/src/jest/seeds.mjs). */
export function testSeeds(): TestSeed[] {
  const [fixed, ofThisRun] = (process.env['LOWMARK_TEST_SEEDS'] ?? '').split(',');
  return [
    { which: 'the fixed seed', seed: Number(fixed) },
    { which: `TEST_SEED=${ofThisRun ?? ''}`, seed: Number(ofThisRun) },
  ];
}
