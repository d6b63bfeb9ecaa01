import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { missingNeeds } from './libs/testing/src/jest/programs.mjs';

const swcrc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swcrc.exclude;

const NEEDED = missingNeeds().join('|');

const common = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swcrc, swcrc: false }] },
  // Tests import the sources; only the programs that a test starts are compiled code.
  moduleNameMapper: {
    '^#libs/(testing|partner-sdk)/(.+)$': '<rootDir>/libs/$1/src/$2/index.ts',
    '^#libs/([^/]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.data/'],
  testPathIgnorePatterns: ['/node_modules/', ...(NEEDED ? [`\\.(${NEEDED})\\.[^/]+$`] : [])],
};
/** The run's PostgreSQL server, seeds and folder for temporary files. */
const SERVERS = {
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
    project('unit', '.spec'),
    project('integration', '.int-spec', SERVERS),
    project('e2e', '.e2e-spec', SERVERS),
    project('soak', '.soak-spec', {
      ...SERVERS,
      testPathIgnorePatterns: [...common.testPathIgnorePatterns, CLUSTER, CONTAINERS],
    }),
    project('cluster', '.cluster.soak-spec', SERVERS),
    // They use no database and no build of this machine.
    project('containers', '.containers.soak-spec'),
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
