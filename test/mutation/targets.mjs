/**
 * The code of which mutation testing asks whether its tests notice a change, and the tests that are run for it: test
 * files of the unit and integration kind, or simulated worlds.
 */
export const TARGETS = {
  domain: {
    code: ['libs/domain/src/**/*.ts', '!libs/domain/src/**/testing/**'],
    tests: ['libs/domain/src/**/*.spec.ts'],
  },
  signing: { code: ['libs/signing/src/*.ts'], tests: ['libs/signing/src/*.spec.ts'] },
  'sign-in': {
    code: ['libs/sign-in/src/*.ts', 'apps/redemption/src/auth/auth.service.ts'],
    tests: ['apps/redemption/src/auth/*.int-spec.ts', 'apps/console/src/auth/sign-in.int-spec.ts'],
  },
  admission: {
    code: ['apps/api/src/auth/*.ts'],
    tests: ['apps/api/src/auth/*.spec.ts'],
  },
  approvals: {
    code: ['apps/console/src/approvals/approval.service.ts'],
    tests: ['apps/console/src/approvals/*.int-spec.ts'],
  },
  'partner-client': {
    code: ['libs/partner-client/src/**/*.ts', '!libs/partner-client/src/testing/**'],
    tests: ['libs/partner-client/src/**/*.{spec,int-spec}.ts'],
  },
  index: { code: ['apps/indexer/src/{follow,vouch,write}/*.ts'], worlds: 'core' },
  engine: { code: ['apps/redemption/src/worker/*.ts'], worlds: 'engine' },
};
