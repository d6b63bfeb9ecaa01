import config from './jest.config.mjs';
import { hasMonitoring } from './libs/testing/src/jest/monitoring-programs.mjs';

/** Long tests: repetitions of tests of `npm test`, kills, restarts and outages; see CONTRIBUTING.md. */
export default {
  ...config,
  globals: {},
  // More workers than two cores can run at once, since most of the slow tests wait most of the time for an alert, the
  // end of a process or a timeout.
  maxWorkers: 4,
  testMatch: [
    '<rootDir>/{apps,libs,test,contracts}/**/*.soak-spec.ts',
    ...(hasMonitoring() ? ['<rootDir>/test/**/*.metrics-spec.ts'] : []),
  ],
};
