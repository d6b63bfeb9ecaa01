import config from './jest.config.mjs';
import { hasMonitoring } from './libs/testing/src/jest/monitoring-programs.mjs';

/** What takes minutes: tests of `npm test` many times over, kills and restarts under load; see CONTRIBUTING.md. */
export default {
  ...config,
  globals: {},
  // Two of the slow ones wait for an alert or for a death most of the time.
  maxWorkers: 3,
  testMatch: [
    '<rootDir>/{apps,libs,test,contracts}/**/*.soak-spec.ts',
    ...(hasMonitoring() ? ['<rootDir>/test/**/*.metrics-spec.ts'] : []),
  ],
};
