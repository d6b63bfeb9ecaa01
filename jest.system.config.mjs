import config from './jest.config.mjs';
import { haproxy } from './libs/testing/src/jest/haproxy.mjs';
import { hasPgbackrest } from './libs/testing/src/jest/pgbackrest.mjs';
import { hasTools } from './libs/testing/src/jest/postgres-tools.mjs';
import { hasRedis } from './libs/testing/src/jest/redis-server.mjs';

/** Tests of whole programs as users start them, and of the commands in the documents; see CONTRIBUTING.md. */
export default {
  ...config,
  globals: {},
  testMatch: [
    '<rootDir>/{apps,libs,test,bench}/**/*.system-spec.ts',
    // Left out where a program is missing; the end of the run says so, and CI fails.
    ...(hasRedis() ? ['<rootDir>/test/**/*.redis-spec.ts'] : []),
    ...(hasTools() ? ['<rootDir>/test/**/*.tools-spec.ts'] : []),
    ...(hasPgbackrest() ? ['<rootDir>/test/**/*.pgbackrest-spec.ts'] : []),
    ...(haproxy() ? ['<rootDir>/test/**/*.haproxy-spec.ts'] : []),
  ],
};
