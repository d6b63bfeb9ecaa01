/** The tests of the target that run.mjs mutates. It has started the servers. */
import jestConfig from '../../jest.config.mjs';

const { projects, testTimeout } = jestConfig;
const [{ displayName: _name, ...unit }] = projects;
const tests = JSON.parse(process.env.MUTATION_TESTS);

export default {
  ...unit,
  rootDir: '../..',
  testTimeout,
  // Jest looks at each file below before it runs a test.
  roots: tests.map((glob) => `<rootDir>/${/^[^*{]*(?=\/)/.exec(glob)[0]}`),
  testMatch: tests.map((glob) => `<rootDir>/${glob}`),
};
