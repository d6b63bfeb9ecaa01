/** Builds the web app into dist/apps/web. The build fails where a page reads a field that an API no longer has. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import './clients.mjs';

const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
const { status } = spawnSync(process.execPath, [tsc, '-p', import.meta.dirname], {
  stdio: 'inherit',
});
if (status !== 0) {
  console.error('After a change of a route or of its answer: npm run openapi.');
  process.exit(status ?? 1);
}
await build({ configFile: fileURLToPath(new URL('vite.config.mjs', import.meta.url)) });
