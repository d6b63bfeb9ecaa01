/** Tests in *.browser-spec.ts need a Chromium on the PATH, or the one that CHROMIUM names. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const HOW =
  'Install it (Debian: apt-get install chromium) or set CHROMIUM to its path, and run the tests again.';
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** @returns the path of a Chromium executable */
export function chromium(environment = process.env) {
  if (environment.CHROMIUM) return environment.CHROMIUM;
  return (environment.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** In CI a missing Chromium is an error; elsewhere the tests are left out. */
export function requireChromiumInCi(environment = process.env) {
  if (environment.CI === 'true' && chromium(environment) === undefined) {
    throw new Error(`There is no Chromium for the tests *.browser-spec.ts. ${HOW}`);
  }
}

/** @returns the note for the end of a run that left these tests out */
export function missingChromiumNote(environment = process.env) {
  if (chromium(environment) !== undefined) return '';
  return `\n!! NOT TESTED: the web pages in a real browser (all files *.browser-spec.ts).\n!! ${HOW}\n`;
}
