/**
 * The programs that tests need besides npm's packages. A test file names its need before its kind, as in
 * `sharing.redis.int-spec.ts`. In CI a missing program is an error. Elsewhere its tests are left out, and the end of a
 * run says so.
 */
import { existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const POSTGRES = ['initdb', 'postgres', 'psql', 'pg_dump', 'pg_restore', 'createdb', 'vacuumdb'];
const SWIFT = ['proxy', 'account', 'container', 'object'].map((name) => `swift-${name}-server`);
const NAMES = {
  // The shell has the same engine without a window, for three fifths of the time.
  chromium: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
  alertmanager: ['alertmanager', 'prometheus-alertmanager'],
  'node-exporter': ['node-exporter', 'prometheus-node-exporter', 'node_exporter'],
  'blackbox-exporter': ['blackbox-exporter', 'prometheus-blackbox-exporter', 'blackbox_exporter'],
};

/** By the word in the names of the test files. The packages are Debian's. */
const NEEDS = {
  redis: {
    programs: ['redis-server'],
    orVariable: 'REDIS_URL',
    packages: 'redis-server',
    tests:
      'limits and cached parts shared by replicas, and what happens while Redis is dead or slow',
  },
  browser: {
    programs: ['chromium', 'haproxy'],
    packages: 'chromium-headless-shell haproxy',
    tests: 'the web pages in a real browser, behind the proxy',
  },
  tools: {
    programs: ['redis-server', 'pgbouncer'],
    ofPostgres: [],
    packages: 'postgresql redis-server pgbouncer',
    tests: 'the commands of the handbook, and PgBouncer',
  },
  haproxy: {
    programs: ['haproxy'],
    packages: 'haproxy',
    tests: 'the proxy in front of the replicas',
  },
  pgbackrest: {
    programs: ['pgbackrest', 'openssl', 'swift-ring-builder', ...SWIFT],
    ofPostgres: ['pg_amcheck', 'pg_controldata', 'pg_ctl', 'pg_receivewal'],
    packages: 'postgresql pgbackrest swift-proxy swift-account swift-container swift-object',
    tests: 'continuous backups',
  },
  monitoring: {
    programs: [
      ...['prometheus', 'promtool', 'alertmanager', 'amtool'],
      ...['node-exporter', 'blackbox-exporter'],
    ],
    packages:
      'prometheus prometheus-alertmanager prometheus-node-exporter prometheus-blackbox-exporter',
    tests: 'that an alert reaches its receiver, and that no panel is empty',
  },
  cluster: {
    programs: ['patroni', 'etcd', 'haproxy', 'pgbouncer'],
    ofPostgres: [],
    packages: 'patroni etcd-server haproxy pgbouncer postgresql',
    tests: 'a PostgreSQL with failover',
  },
};

/**
 * @returns the path of a program; undefined if it is not installed. Debian installs some in /usr/sbin, which is not on
 * every user's PATH.
 */
export function programPath(name, environment = process.env) {
  if (name === 'chromium' && environment.CHROMIUM) return environment.CHROMIUM;
  const names = NAMES[name] ?? [name];
  return [...foldersOf(environment), '/usr/sbin']
    .flatMap((folder) => names.map((file) => join(folder, file)))
    .find((path) => existsSync(path));
}

/** @returns the folder with the programs of a complete PostgreSQL installation */
export function postgresTools(environment = process.env) {
  const folders = [
    ...foldersOf(environment),
    ...globSync('/usr/lib/postgresql/*/bin').sort().reverse(),
  ];
  return folders.find((folder) => POSTGRES.every((name) => existsSync(join(folder, name))));
}

/** @returns the needs of tests that this machine does not meet */
export function missingNeeds(environment = process.env) {
  return Object.keys(NEEDS).filter((need) => !isMet(NEEDS[need], environment));
}

/** @throws in CI, if a program is missing */
export function requireProgramsInCi(environment = process.env) {
  if (environment.CI !== 'true') return;
  const lines = missingNeeds(environment).map((need) => `*.${need}.*: ${howToMeet(NEEDS[need])}`);
  if (lines.length > 0) throw new Error(`Tests cannot run:\n${lines.join('\n')}`);
}

/** @returns the note for the end of a run that left tests out */
export function missingProgramsNote(environment = process.env) {
  const notes = missingNeeds(environment).map(
    (need) =>
      `\n!! NOT TESTED: ${NEEDS[need].tests} (all files *.${need}.*).\n!! ${howToMeet(NEEDS[need])}\n`,
  );
  return notes.join('');
}

function isMet({ programs, ofPostgres, orVariable }, environment) {
  if (orVariable !== undefined && environment[orVariable]) return true;
  const tools = postgresTools(environment);
  return (
    programs.every((name) => programPath(name, environment) !== undefined) &&
    (ofPostgres === undefined ||
      (tools !== undefined && ofPostgres.every((name) => existsSync(join(tools, name)))))
  );
}

function howToMeet({ packages, orVariable }) {
  const or = orVariable === undefined ? '' : ` or set ${orVariable}`;
  return `Install what is missing (Debian: apt-get install --no-install-recommends ${packages})${or}, and run the tests again.`;
}

function foldersOf(environment) {
  return (environment.PATH ?? '').split(delimiter);
}
