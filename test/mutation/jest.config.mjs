/** The unit tests of the folder that run.mjs mutates. */
import jestConfig from '../../jest.config.mjs';

const { displayName: _name, ...unit } = jestConfig.projects[0];
const folder = `<rootDir>/${process.env.MUTATED_FOLDER}`;

export default {
  ...unit,
  rootDir: '../..',
  // Jest looks at each file below before it runs a test.
  roots: [folder],
  testMatch: [`${folder}/*.spec.ts`],
};
