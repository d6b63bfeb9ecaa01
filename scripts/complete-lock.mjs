/**
 * Adds to package-lock.json the optional packages of other platforms that npm left out.
 *
 * npm drops such entries where it cannot reach a package (for example with a registry mirror that holds one platform
 * only; npm/cli issue 4828), and `npm ci` then refuses the lock file on every platform. An entry needs the exact
 * version, which the dependent package states, and the platform, which is part of the package's name.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../package-lock.json', import.meta.url);
const OS = {
  darwin: 'darwin',
  linux: 'linux',
  win32: 'win32',
  windows: 'win32',
  freebsd: 'freebsd',
  android: 'android',
  openharmony: 'openharmony',
  openbsd: 'openbsd',
  netbsd: 'netbsd',
  sunos: 'sunos',
  aix: 'aix',
};
const CPU = {
  x64: 'x64',
  amd64: 'x64',
  arm64: 'arm64',
  arm: 'arm',
  armhf: 'arm',
  ia32: 'ia32',
  ppc64: 'ppc64',
  s390x: 's390x',
  riscv64: 'riscv64',
  loong64: 'loong64',
  wasm32: 'wasm32',
  mips64el: 'mips64el',
  universal: undefined,
};

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
const added = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(path, name)) continue;
    const version = /^\d+\.\d+\.\d+/.test(range) ? range : undefined;
    if (!version)
      throw new Error(`${path} asks for ${name} ${range}, which is not an exact version`);
    lock.packages[`node_modules/${name}`] = {
      version,
      ...platformOf(name),
      dev: entry.dev,
      optional: true,
    };
    added.push(`${name}@${version}`);
  }
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)),
);
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.info(added.length === 0 ? 'The lock file is complete.' : `Added ${added.join(', ')}`);

/** Looks where Node would: in the package's own node_modules, or in one above it. */
function isLocked(path, name) {
  for (
    let folder = path;
    ;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))
  ) {
    if (lock.packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]) return true;
    if (folder === '') return false;
  }
}

function platformOf(name) {
  const words = name.split('/').at(-1).split(/[-.]/);
  const os = words.map((word) => OS[word]).find(Boolean);
  const cpu = words.map((word) => CPU[word]).find(Boolean);
  const libc = words.includes('musl')
    ? 'musl'
    : words.includes('gnu') && os === 'linux'
      ? 'glibc'
      : undefined;
  return { ...(cpu && { cpu: [cpu] }), ...(libc && { libc: [libc] }), ...(os && { os: [os] }) };
}
