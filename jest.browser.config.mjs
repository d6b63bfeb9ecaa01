import config from './jest.config.mjs';
import { chromium } from './libs/testing/src/jest/chromium.mjs';

/** The web pages in a Chromium, with the programs that they stand on. */
export default {
  ...config,
  globals: {},
  // A page that is waited for may take its time several times in one test.
  testTimeout: 180_000,
  testMatch: chromium() ? ['<rootDir>/{apps,test}/**/*.browser-spec.ts'] : [],
  // Without one the last lines of the run say so, and CI fails.
  passWithNoTests: true,
};
