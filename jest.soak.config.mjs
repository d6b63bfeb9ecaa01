import config from './jest.config.mjs';

/** What takes minutes: the same tests as in `npm test`, many times over; see CONTRIBUTING.md. */
export default {
  ...config,
  testMatch: ['<rootDir>/{apps,libs,test,contracts}/**/*.soak-spec.ts'],
};
