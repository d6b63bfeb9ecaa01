import config from './jest.config.mjs';
import { hasCluster } from './libs/testing/src/jest/cluster-programs.mjs';

/** A PostgreSQL with failover under the load of all services, which takes both cores; see CONTRIBUTING.md. */
export default {
  ...config,
  globals: {},
  maxWorkers: 1,
  testMatch: hasCluster() ? ['<rootDir>/test/**/*.cluster-spec.ts'] : [],
  // Where a program is missing the last lines of the run say so, and CI fails.
  passWithNoTests: true,
};
