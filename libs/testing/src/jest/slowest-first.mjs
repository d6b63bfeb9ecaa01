/** The order of the test files where no earlier run has measured them: what is slow by its kind begins first, or the workers would wait for it. */
import TestSequencer from '@jest/test-sequencer';

const KINDS = ['.e2e-spec.ts', '.chain-spec.ts', '.redis-spec.ts', '.int-spec.ts', '.spec.ts'];
const kindOf = ({ path }) => KINDS.findIndex((kind) => path.endsWith(kind));

export default class SlowestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    return sorted.sort((one, other) => kindOf(one) - kindOf(other));
  }
}
