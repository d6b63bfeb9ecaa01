import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { missingNeeds } from './libs/testing/src/jest/programs.mjs';

const swcrc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swcrc.exclude;

const NEEDED = missingNeeds().join('|');

const common = {
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swcrc, swcrc: false }] },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.data/'],
  testPathIgnorePatterns: ['/node_modules/', ...(NEEDED ? [`\\.(${NEEDED})\\.[^/]+$`] : [])],
};
/** Tests import the sources; only the programs that a test starts are compiled code. */
const IN_PROCESS = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^#libs/(testing|partner-sdk)/(.+)$': '<rootDir>/libs/$1/src/$2/index.ts',
    '^#libs/([^/]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'],
  },
};
/** Whole services and programs, in Node itself, on the servers of the run. */
const WHOLE = {
  testEnvironment: '<rootDir>/libs/testing/src/jest/node-environment.mjs',
  runtime: '<rootDir>/libs/testing/src/jest/node-runtime.mjs',
  globalSetup: '<rootDir>/libs/testing/src/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/src/jest/global-teardown.mjs',
};

/** The suffix of a test file tells the kind of the test; see CONTRIBUTING.md. */
const project = (displayName, suffix, more) => ({
  ...common,
  displayName,
  testMatch: [`<rootDir>/{apps,libs,test,contracts,bench}/**/*${suffix}.ts`],
  ...more,
});
const CLUSTER = '\\.cluster\\.soak-spec\\.ts$';
const CONTAINERS = '\\.containers\\.soak-spec\\.ts$';

export default {
  projects: [
    project('unit', '.spec', IN_PROCESS),
    project('integration', '.int-spec', WHOLE),
    project('e2e', '.e2e-spec', WHOLE),
    project('soak', '.soak-spec', {
      ...WHOLE,
      testPathIgnorePatterns: [...common.testPathIgnorePatterns, CLUSTER, CONTAINERS],
    }),
    project('cluster', '.cluster.soak-spec', WHOLE),
    // They use no database and no build of this machine.
    project('containers', '.containers.soak-spec', {
      ...WHOLE,
      globalSetup: undefined,
      globalTeardown: undefined,
    }),
  ],
  // Only what hangs waits this long. A busy machine needs several times what an idle one does.
  testTimeout: 180_000,
  testSequencer: '<rootDir>/libs/testing/src/jest/slowest-first.mjs',
  // More workers than two cores can run at once, since half of the slow tests wait most of the time. The limit is
  // memory: each worker may run a whole system.
  maxWorkers: totalmem() >= 12 * 2 ** 30 ? 4 : 3,
  workerIdleMemoryLimit: '1GB',
  // When a worker ends, Node writes the modules that it has compiled (NODE_COMPILE_CACHE in global-setup.mjs). After a
  // change this takes longer than Jest's half a second, after which Jest would kill the worker as one with a leak.
  workerGracefulExitTimeout: 10_000,
};
