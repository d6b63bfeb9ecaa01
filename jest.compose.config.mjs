import config from './jest.config.mjs';

/**
 * Tests of docker compose and ./lowmark on a real engine, which `npm run test:compose` provides. They use no database
 * and no build of this machine.
 */
export default {
  ...config,
  testMatch: ['<rootDir>/test/compose/**/*.compose-spec.ts'],
  globalSetup: undefined,
  globalTeardown: undefined,
  // A busy machine takes minutes for what an idle one does in seconds.
  testTimeout: 1_800_000,
};
