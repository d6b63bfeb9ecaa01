/** The order of the test files: those that no earlier run has measured begin first, the slow kinds before the others, then the slowest. */
import TestSequencer from '@jest/test-sequencer';

const KINDS = ['.e2e-spec.ts', '.chain-spec.ts', '.redis-spec.ts', '.int-spec.ts', '.spec.ts'];
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
