import config from './jest.config.mjs';

/** docker compose and ./lowmark on a real engine, which `npm run test:compose` sees to; no database or build of this machine. */
export default {
  ...config,
  testMatch: ['<rootDir>/test/compose/**/*.compose-spec.ts'],
  globalSetup: undefined,
  globalTeardown: undefined,
  // A busy machine takes minutes for what an idle one does in seconds.
  testTimeout: 1_800_000,
};
