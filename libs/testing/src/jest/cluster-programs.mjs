/**
 * Tests in *.cluster-spec.ts need the programs of a PostgreSQL cluster with failover: Patroni, etcd, HAProxy and
 * PgBouncer.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { postgresTools } from './postgres-tools.mjs';

const PROGRAMS = ['patroni', 'etcd', 'haproxy', 'pgbouncer'];
const HOW =
  'Install them (Debian: apt-get install --no-install-recommends patroni etcd-server haproxy pgbouncer postgresql) and run the tests again.';

/** @returns the path of a program. Debian installs some in /usr/sbin, which is not on every user's PATH. */
export function clusterProgram(name, environment = process.env) {
  const folders = [...(environment.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

export function hasCluster(environment = process.env) {
  const isThere = (name) => clusterProgram(name, environment) !== undefined;
  return postgresTools(environment) !== undefined && PROGRAMS.every(isThere);
}

/** In CI a missing program is an error; elsewhere the tests are left out. */
export function requireClusterInCi(environment = process.env) {
  if (environment.CI === 'true' && !hasCluster(environment)) {
    throw new Error(
      `Patroni, etcd, HAProxy, PgBouncer or PostgreSQL is missing for the tests *.cluster-spec.ts. ${HOW}`,
    );
  }
}

/** @returns the note for the end of a run that left these tests out */
export function missingClusterNote(environment = process.env) {
  if (hasCluster(environment)) return '';
  return `\n!! NOT TESTED: a PostgreSQL with failover (all files *.cluster-spec.ts).\n!! ${HOW}\n`;
}
