import config from './jest.config.mjs';
import { hasCluster } from './libs/testing/src/jest/cluster-programs.mjs';

/**
 * Tests of a PostgreSQL cluster with failover under the load of all services, which needs both cores; see
 * CONTRIBUTING.md.
 */
export default {
  ...config,
  globals: {},
  maxWorkers: 1,
  testMatch: hasCluster() ? ['<rootDir>/test/**/*.cluster-spec.ts'] : [],
  // Where a program is missing, the end of the run says so, and CI fails.
  passWithNoTests: true,
};
