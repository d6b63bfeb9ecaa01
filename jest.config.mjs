import { readFileSync } from 'node:fs';
import { hasRedis } from './libs/testing/src/jest/redis-server.mjs';

const swcrc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swcrc.exclude;

/** The suffix of a test file says what it needs; see CONTRIBUTING.md. */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swcrc, swcrc: false }] },
  moduleNameMapper: {
    '^#libs/(.*)$': '<rootDir>/libs/$1/src/index.ts',
    '^fast-check$': '<rootDir>/libs/testing/src/jest/fast-check.mjs',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  testMatch: [
    '<rootDir>/{apps,libs,test,contracts}/**/*.spec.ts',
    '<rootDir>/{apps,libs,test,contracts}/**/*.{int,chain,e2e}-spec.ts',
    // Left out where there is no Redis; the last lines of the run say so, and CI fails.
    ...(hasRedis() ? ['<rootDir>/{apps,libs,test,contracts}/**/*.redis-spec.ts'] : []),
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.data/'],
  globalSetup: '<rootDir>/libs/testing/src/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/src/jest/global-teardown.mjs',
  testTimeout: 60_000,
  maxWorkers: 2,
  // Modules of past files stay in a worker's memory; 3 GB of it take longer to free than Jest waits for.
  workerIdleMemoryLimit: '1GB',
};
