import config from './jest.config.mjs';
import { hasMonitoring } from './libs/testing/src/jest/monitoring-programs.mjs';

/** What takes long: tests of `npm test` many times over, kills, restarts and outages; see CONTRIBUTING.md. */
export default {
  ...config,
  globals: {},
  // More than two cores can do at once: most of the slow ones wait most of the time, for an alert, a death or a time-out.
  maxWorkers: 4,
  testMatch: [
    '<rootDir>/{apps,libs,test,contracts}/**/*.soak-spec.ts',
    ...(hasMonitoring() ? ['<rootDir>/test/**/*.metrics-spec.ts'] : []),
  ],
};
