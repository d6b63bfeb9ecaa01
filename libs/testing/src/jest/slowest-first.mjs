/**
 * The order of the test files: files without a measured duration first, with the slow kinds of tests before the others,
 * and the rest from the slowest to the fastest.
 */
import TestSequencer from '@jest/test-sequencer';

const KINDS = ['.e2e-spec.ts', '.int-spec.ts', '.spec.ts'];
const kindOf = ({ path }) => KINDS.findIndex((kind) => path.endsWith(kind));

export default class SlowestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isMeasured = ({ duration }) => duration !== undefined;
    const unmeasured = sorted.filter((test) => !isMeasured(test));
    unmeasured.sort((one, other) => kindOf(one) - kindOf(other));
    return [...unmeasured, ...sorted.filter(isMeasured)];
  }
}
