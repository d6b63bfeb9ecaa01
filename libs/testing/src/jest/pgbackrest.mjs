/**
 * Tests in *.pgbackrest-spec.ts need pgBackRest and Swift (an object store with an S3 interface) on the PATH, and a
 * PostgreSQL with all its tools.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { postgresTools } from './postgres-tools.mjs';

const PROGRAMS = ['pg_amcheck', 'pg_controldata', 'pg_ctl', 'pg_receivewal'];
const SWIFT = [
  'proxy-server',
  'account-server',
  'container-server',
  'object-server',
  'ring-builder',
];
const ON_PATH = ['pgbackrest', 'openssl', ...SWIFT.map((name) => `swift-${name}`)];
const HOW =
  'Install them (Debian: apt-get install postgresql pgbackrest swift-proxy swift-account swift-container swift-object) and run the tests again.';

export function hasPgbackrest(environment = process.env) {
  const tools = postgresTools(environment);
  const folders = (environment.PATH ?? '').split(delimiter);
  return (
    tools !== undefined &&
    PROGRAMS.every((name) => existsSync(join(tools, name))) &&
    ON_PATH.every((name) => folders.some((folder) => existsSync(join(folder, name))))
  );
}

/** In CI a missing program is an error; elsewhere the tests are left out. */
export function requirePgbackrestInCi(environment = process.env) {
  if (environment.CI === 'true' && !hasPgbackrest(environment)) {
    throw new Error(
      `There is no pgBackRest, no Swift, or no PostgreSQL with its tools, for the tests *.pgbackrest-spec.ts. ${HOW}`,
    );
  }
}

/** @returns the note for the end of a run that left these tests out */
export function missingPgbackrestNote(environment = process.env) {
  if (hasPgbackrest(environment)) return '';
  return `\n!! NOT TESTED: continuous backups (all files *.pgbackrest-spec.ts).\n!! ${HOW}\n`;
}
