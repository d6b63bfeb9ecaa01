/**
 * What `fast-check` is in tests (jest.config.mjs): half of a property's runs are with the fixed seed, the others with that of this run.
 * Where it does not hold, fast-check's error says with which one. A property that chooses a seed itself keeps it.
 */
import fc from '../../../../node_modules/fast-check/lib/fast-check.js';

const [FIXED, OF_THIS_RUN] = process.env.LOWMARK_TEST_SEEDS.split(',').map(Number);
const { numRuns: DEFAULT_RUNS = 100 } = fc.readConfigureGlobal();

export * from '../../../../node_modules/fast-check/lib/fast-check.js';
export default { ...fc, assert };

/** As `fc.assert`. */
export function assert(property, options = {}) {
  if (options.seed !== undefined) return fc.assert(property, options);
  const numRuns = Math.ceil((options.numRuns ?? DEFAULT_RUNS) / 2);
  const holdsWith = (seed) => fc.assert(property, { ...options, numRuns, seed });
  const first = holdsWith(FIXED);
  return property.isAsync() ? first.then(() => holdsWith(OF_THIS_RUN)) : holdsWith(OF_THIS_RUN);
}
