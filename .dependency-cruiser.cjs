/** The boundaries of docs/ARCHITECTURE.md, checked on every change. */
const only = (name, packages, home) => ({
  name,
  severity: 'error',
  from: { pathNot: `^(${home}|libs/testing|apps/[^/]+/test|bench|test)/|[.-](spec|support)\\.ts$` },
  to: { path: `node_modules/(${packages})/` },
});

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'domain-is-pure',
      severity: 'error',
      from: { path: '^libs/domain/', pathNot: '\\.spec\\.ts$' },
      // Not written again: RFC 8785, and the rules of a partner's answers, which the SDK publishes.
      to: {
        pathNot: [
          '^libs/domain/',
          '^libs/partner-sdk/src/answers/index\\.ts$',
          'node_modules/canonicalize/',
        ],
      },
    },
    {
      name: 'rules-of-answers-are-pure',
      severity: 'error',
      from: { path: '^libs/partner-sdk/src/answers/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: '^libs/partner-sdk/src/answers/' },
    },
    {
      name: 'the-sdk-stands-alone',
      severity: 'error',
      comment: 'It is published: nothing of this repository goes with it.',
      from: { path: '^libs/partner-sdk/', pathNot: '[.-](spec|support)\\.ts$' },
      to: { path: '^(apps|libs)/', pathNot: '^libs/partner-sdk/' },
    },
    {
      name: 'verify-shares-the-day-rules-alone',
      severity: 'error',
      comment:
        'It is published to check the index: of this repository it has the pure rules, Keccak, and the SDK to ask the api.',
      from: { path: '^libs/verify/', pathNot: '[.-](spec|support)\\.ts$' },
      to: { path: '^(apps|libs)/', pathNot: '^libs/(verify|domain|keccak|partner-sdk)/' },
    },
    {
      name: 'libs-never-import-apps',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'apps-never-import-each-other',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'a-lib-is-entered-through-its-index',
      severity: 'error',
      comment:
        'The SDK has three: its own, the rules of answers, and the conformance tester. Each folder of testing has one.',
      from: { path: '^(apps|libs)/([^/]+)/' },
      to: {
        path: '^libs/[^/]+/src/.+',
        pathNot: [
          '^libs/[^/]+/src/index\\.ts$',
          '^libs/partner-sdk/src/(answers|conformance)/index\\.ts$',
          '^libs/testing/src/[^/]+/index\\.ts$',
          '^$1/$2/',
        ],
      },
    },
    {
      name: 'testing-only-from-tests',
      severity: 'error',
      from: {
        path: '^(apps|libs)/',
        pathNot: '^libs/testing/|^apps/[^/]+/test/|[.-](spec|support)\\.ts$',
      },
      to: { path: '^libs/testing/' },
    },
    only('viem-only-in-chain', 'viem', 'libs/chain|libs/devchain|libs/verify|apps/web'),
    only('database-only-in-db', 'typeorm|pg|pg-copy-streams', 'libs/db'),
    only('redis-only-in-cache', 'ioredis', 'libs/cache'),
    only('unhomoglyph-only-in-names', 'unhomoglyph', 'libs/names'),
    // The SDK stands alone, and makes roots too.
    only('hash-wasm-only-in-keccak', 'hash-wasm', 'libs/keccak|libs/partner-sdk'),
    only('opentelemetry-only-in-telemetry', '@opentelemetry', 'libs/telemetry'),
    {
      name: 'leaf-libs-load-no-framework',
      severity: 'error',
      comment:
        'Not through another lib either: #libs/platform has the interfaces, the programs bring what implements them.',
      from: {
        path: '^libs/',
        pathNot: '^libs/(openapi|service|sign-in|telemetry)/|[.-](spec|support)\\.ts$',
      },
      to: {
        path: 'node_modules/(@nestjs|fastify|pino|prom-client|@opentelemetry)/',
        reachable: true,
      },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot:
          '[.-](spec|support)\\.ts$|main\\.tsx?$|\\.d\\.ts$|^libs/testing/src/jest/|^apps/web/vite',
      },
      to: {},
    },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'Modules that are made when the pages are built are virtual.',
      from: {},
      to: { couldNotResolve: true, pathNot: '^virtual:' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^libs/(partner-sdk|verify)/dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
