/**
 * Builds only where a source is newer than the build. Otherwise dist/ stays untouched: programs may be running from it,
 * and an installation without development packages cannot build.
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

/**
 * Generated files, which are no sources: each build writes some after the file whose time is compared, and packing a
 * package writes others.
 */
const MADE = ['apps/web/src/api/*.generated.ts', '{apps,libs}/*/dist/**'];

const changedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const builtMs = changedMs('dist/apps/cli/src/main.js');

if (globSync(SOURCES, { exclude: MADE }).some((path) => changedMs(path) >= builtMs)) {
  const { status } = spawnSync('npm run --silent build', { shell: true, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
