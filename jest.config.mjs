import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { hasRedis } from './libs/testing/src/jest/redis-server.mjs';

const swcrc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swcrc.exclude;

/** The suffix of a test file tells which programs the test needs; see CONTRIBUTING.md. */
export default {
  testEnvironment: '<rootDir>/libs/testing/src/jest/node-environment.mjs',
  runtime: '<rootDir>/libs/testing/src/jest/node-runtime.mjs',
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swcrc, swcrc: false }] },
  testMatch: [
    '<rootDir>/{apps,libs,test,contracts,bench}/**/*.spec.ts',
    '<rootDir>/{apps,libs,test,contracts}/**/*.{int,chain,e2e}-spec.ts',
    // Left out where there is no Redis; the end of the run says so, and CI fails.
    ...(hasRedis() ? ['<rootDir>/{apps,libs}/**/*.redis-spec.ts'] : []),
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.data/'],
  globalSetup: '<rootDir>/libs/testing/src/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/src/jest/global-teardown.mjs',
  // No test waits this long unless something hangs; a busy machine takes several times what an idle one takes.
  testTimeout: 180_000,
  // Printed at the end of the run.
  globals: {
    otherRuns:
      'Run by themselves: npm run test:system (whole programs, the commands of the documents, backups), test:browser (the web pages in Chromium), test:soak (simulations and kills for minutes, alerts), test:cluster (failovers of PostgreSQL), test:compose (containers).',
  },
  testSequencer: '<rootDir>/libs/testing/src/jest/slowest-first.mjs',
  // More workers than two cores can run at once, since half of the slow tests wait most of the time. The limit is
  // memory: each worker may run a whole system.
  maxWorkers: totalmem() >= 12 * 2 ** 30 ? 4 : 3,
  workerIdleMemoryLimit: '1GB',
  // When a worker ends, Node writes the modules that it has compiled (NODE_COMPILE_CACHE in global-setup.mjs). After a
  // change this takes longer than Jest's half a second, after which Jest would kill the worker as one with a leak.
  workerGracefulExitTimeout: 10_000,
};
