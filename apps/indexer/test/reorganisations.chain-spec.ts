import { describeReorganisations } from './reorganisations.support-spec.js';

// The soak test covers every depth.
describeReorganisations([
  [1, 8],
  [15, 17],
  [31, 32],
  [59, 60],
]);
