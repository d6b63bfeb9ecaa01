import { describeReorganisations } from './reorganisations.support-spec.js';

describeReorganisations([
  [1, 20],
  [21, 32],
  [33, 41],
  [42, 49],
  [50, 55],
  [56, 60],
]);
