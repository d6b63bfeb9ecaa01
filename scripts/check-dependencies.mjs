/**
 * Checks the installed packages without the network: every package of this platform has the version of the lock file
 * and an integrity in it, and none has an install script that package.json's `allowScripts` does not name.
 *
 * A package of another platform may lack its integrity: the registry that the lock file was made with may not have the
 * package (see complete-lock.mjs). `--all` refuses these packages too.
 *
 *   node scripts/check-dependencies.mjs [--all] [FOLDER]
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { all: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const ROOT = positionals[0] ?? join(import.meta.dirname, '..');
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];
const json = (...path) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));

const { allowScripts } = json('package.json');
const { packages } = json('package-lock.json');
const faults = [];
let others = 0;
for (const [path, entry] of Object.entries(packages)) {
  if (path === '' || entry.link) continue;
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const isHere = existsSync(join(ROOT, path, 'package.json'));
  if (!entry.integrity) {
    if (entry.optional && !isHere && !values.all) others++;
    else faults.push(`${name} ${entry.version} has no integrity in package-lock.json`);
  }
  if (!isHere) {
    if (!entry.optional) faults.push(`${name} ${entry.version} is not installed: npm ci`);
    continue;
  }
  const installed = json(path, 'package.json');
  if (installed.version !== entry.version)
    faults.push(`${name} is installed as ${installed.version}, locked as ${entry.version}: npm ci`);
  if (runsOnInstall(path, installed) && allowScripts[name] === undefined)
    faults.push(
      `${name} has an install script; read it, then name it in package.json's allowScripts`,
    );
}
for (const name of Object.keys(allowScripts))
  if (!Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`)))
    faults.push(`allowScripts names ${name}, which is no dependency`);

if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}
console.info(
  `${Object.keys(packages).length - 1} packages are as locked; ${others} of other platforms have no integrity.`,
);

/**
 * Whether npm runs a script when it installs the package. npm also builds a package with a binding.gyp and no install
 * script.
 */
function runsOnInstall(path, { scripts = {} }) {
  return (
    INSTALL_SCRIPTS.some((script) => scripts[script] !== undefined) ||
    existsSync(join(ROOT, path, 'binding.gyp'))
  );
}
