/** Tests in *.haproxy-spec.ts need an haproxy on the PATH or in /usr/sbin. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const HOW = 'Install it (Debian: apt-get install haproxy) and run the tests again.';

/** @returns the path of haproxy. Debian installs it in /usr/sbin, which is not on every user's PATH. */
export function haproxy(environment = process.env) {
  const folders = [...(environment.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'haproxy')).find((path) => existsSync(path));
}

/** In CI a missing haproxy is an error; elsewhere the tests are left out. */
export function requireHaproxyInCi(environment = process.env) {
  if (environment.CI === 'true' && haproxy(environment) === undefined) {
    throw new Error(`There is no haproxy for the tests *.haproxy-spec.ts. ${HOW}`);
  }
}

/** @returns the note for the end of a run that left these tests out */
export function missingHaproxyNote(environment = process.env) {
  if (haproxy(environment) !== undefined) return '';
  return `\n!! NOT TESTED: the proxy in front of the replicas (all files *.haproxy-spec.ts).\n!! ${HOW}\n`;
}
