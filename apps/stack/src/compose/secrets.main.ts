/**
 * `docker compose`: makes the secrets that are missing, as files under the given folder, and gives each program copies
 * of the files that it reads. `local` also makes the secrets of a trial; `set` replaces a secret with standard input,
 * `show` prints one.
 *
 *   node secrets.main.js base|local FOLDER
 *   node secrets.main.js set|show FOLDER NAME
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { requireOneServer } from './one-server.js';
import {
  markTrialOrRefuse,
  fileOfSecret,
  makeMissing,
  setSecret,
  shareSecrets,
} from './secret-files.js';

const [kind = '', root = '', name = ''] = process.argv.slice(2);

async function makeAll(of: 'base' | 'local'): Promise<void> {
  await markTrialOrRefuse(root, of);
  const missing = await makeMissing(root, of);
  await requireOneServer(root);
  const made = [...missing, ...(await shareSecrets(root, of))];
  console.log(made.length === 0 ? 'All secrets are there' : `Made ${made.join(', ')}`);
}

async function main(): Promise<void> {
  if (root !== '' && (kind === 'base' || kind === 'local')) return makeAll(kind);
  if (name !== '' && kind === 'set') return setSecret(root, name, await text(process.stdin));
  if (name !== '' && kind === 'show') {
    process.stdout.write(await readFile(fileOfSecret(root, name)));
    return;
  }
  console.error('Usage: secrets.main.js base|local FOLDER, or set|show FOLDER NAME');
  process.exitCode = 2;
}

try {
  await main();
} catch (error) {
  // The error of a file system names a path, never the content of the file.
  console.error((error as Error).message);
  process.exitCode = 1;
}
