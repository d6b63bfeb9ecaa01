/**
 * `docker compose`: makes the secrets that were not provided, as files under the given folder.
 *
 *   node secrets.main.js base|local FOLDER
 */
import { baseSecrets, localSecrets, makeMissing, shareSecrets } from './secret-files.js';

const [kind, root] = process.argv.slice(2);
if ((kind !== 'base' && kind !== 'local') || root === undefined) {
  console.error('Usage: secrets.main.js base|local FOLDER');
  process.exitCode = 2;
} else {
  try {
    const made = await makeMissing(kind === 'base' ? baseSecrets(root) : localSecrets(root));
    if (kind === 'base') made.push(...(await shareSecrets(root)));
    console.log(made.length === 0 ? 'All secrets are there' : `Made ${made.join(', ')}`);
  } catch (error) {
    // The error of a file system names a path, never what is in it.
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
