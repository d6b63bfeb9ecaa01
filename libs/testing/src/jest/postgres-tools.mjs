/**
 * Tests in *.tools-spec.ts need a PostgreSQL with all its tools (pg_dump and others), a redis-server and a pgbouncer.
 */
import { existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { redisServer } from './redis-server.mjs';

const PROGRAMS = ['initdb', 'postgres', 'psql', 'pg_dump', 'pg_restore', 'createdb', 'vacuumdb'];
const HOW =
  'Install them (Debian: apt-get install postgresql redis-server pgbouncer) and run the tests again.';

/** @returns the folder with the programs of a complete PostgreSQL installation */
export function postgresTools(environment = process.env) {
  const onPath = (environment.PATH ?? '').split(delimiter);
  const folders = [...onPath, ...globSync('/usr/lib/postgresql/*/bin').sort().reverse()];
  return folders.find((folder) => PROGRAMS.every((name) => existsSync(join(folder, name))));
}

/** @returns the path of pgbouncer. Debian installs it in /usr/sbin, which is not on every user's PATH. */
function pgBouncer(environment) {
  const folders = [...(environment.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
}

export function hasTools(environment = process.env) {
  const all = [postgresTools(environment), redisServer(environment), pgBouncer(environment)];
  return !all.includes(undefined);
}

/** In CI a missing program is an error; elsewhere the tests are left out. */
export function requireToolsInCi(environment = process.env) {
  if (environment.CI === 'true' && !hasTools(environment)) {
    throw new Error(
      `There is no PostgreSQL with its tools, no redis-server or no pgbouncer, for the tests *.tools-spec.ts. ${HOW}`,
    );
  }
}

/** @returns the note for the end of a run that left these tests out */
export function missingToolsNote(environment = process.env) {
  if (hasTools(environment)) return '';
  return `\n!! NOT TESTED: the commands of the handbook, and PgBouncer (all files *.tools-spec.ts).\n!! ${HOW}\n`;
}
