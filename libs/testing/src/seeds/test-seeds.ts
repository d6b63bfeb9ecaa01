/** Where a test that rolls dice begins. */
export interface TestSeed {
  /** For the title of the test. */
  readonly which: string;
  readonly seed: number;
}

/** One that is always the same, and that of the run, which `TEST_SEED` gives again (libs/testing/src/jest/seeds.mjs). */
export function testSeeds(): TestSeed[] {
  const [fixed, ofThisRun] = (process.env['LOWMARK_TEST_SEEDS'] ?? '').split(',');
  return [
    { which: 'the fixed seed', seed: Number(fixed) },
    { which: `TEST_SEED=${ofThisRun ?? ''}`, seed: Number(ofThisRun) },
  ];
}
