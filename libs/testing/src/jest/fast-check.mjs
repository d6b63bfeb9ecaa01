/**
 * Replaces `fast-check` in tests (jest.config.mjs). Half of a property's runs use the fixed seed, the others the seed
 * of the test run; fast-check's error names the seed with which a property fails. A property with a seed in its options
 * keeps that seed.
 */
import fc from '../../../../node_modules/fast-check/lib/fast-check.js';

const [FIXED, OF_THIS_RUN] = process.env.LOWMARK_TEST_SEEDS.split(',').map(Number);
const { numRuns: DEFAULT_RUNS = 100 } = fc.readConfigureGlobal();

export * from '../../../../node_modules/fast-check/lib/fast-check.js';
export default { ...fc, assert };

/** Like `fc.assert`, but with both seeds. */
export function assert(property, options = {}) {
  if (options.seed !== undefined) return fc.assert(property, options);
  const numRuns = Math.ceil((options.numRuns ?? DEFAULT_RUNS) / 2);
  const holdsWith = (seed) => fc.assert(property, { ...options, numRuns, seed });
  const first = holdsWith(FIXED);
  return property.isAsync() ? first.then(() => holdsWith(OF_THIS_RUN)) : holdsWith(OF_THIS_RUN);
}
