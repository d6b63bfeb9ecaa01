import config from './jest.config.mjs';
import { chromium } from './libs/testing/src/jest/chromium.mjs';

/** Tests of the web pages in a Chromium, with the programs behind the pages. */
export default {
  ...config,
  globals: {},
  testMatch: chromium() ? ['<rootDir>/{apps,test}/**/*.browser-spec.ts'] : [],
  // Without a Chromium the end of the run says so, and CI fails.
  passWithNoTests: true,
};
