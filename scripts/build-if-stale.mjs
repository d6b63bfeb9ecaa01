/**
 * Builds where a source is newer than what was built, and else leaves dist/ alone: programs may be running from it, and an
 * installation without development packages has nothing to build with.
 */
import { spawnSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';

const SOURCES = [
  '{apps,libs,bench}/**/*.{ts,tsx,css,html,svg}',
  'docs/wire/*.json',
  '.swcrc',
  'nest-cli.json',
  'package-lock.json',
];

/** Made of sources: by each build, after the program that is looked at, and by packing a package. */
const MADE = ['apps/web/src/api/*.generated.ts', '{apps,libs}/*/dist/**'];

const changedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const builtMs = changedMs('dist/apps/cli/src/main.js');

if (globSync(SOURCES, { exclude: MADE }).some((path) => changedMs(path) >= builtMs)) {
  const { status } = spawnSync('npm run --silent build', { shell: true, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
