/** Writes .env.example, docs/operating/settings.md and known-settings.ts from the settings of the built applications. */
import { glob, readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import {
  appSettings,
  renderEnvExample,
  renderKnownSettings,
  renderSettingsPage,
} from '#libs/config';

const root = new URL('../../', import.meta.url);
const applications = [];
for await (const path of glob('dist/apps/*/src/**/*.env.js', { cwd: root })) {
  applications.push(appSettings(path.split('/')[2], await import(new URL(path, root))));
}
const composeFiles = [];
for await (const path of glob('docker-compose*.yml', { cwd: root })) {
  composeFiles.push(await readFile(new URL(path, root), 'utf8'));
}
await writeFile(new URL('.env.example', root), renderEnvExample(applications));
await writeFile(
  new URL('libs/config/src/known-settings.ts', root),
  renderKnownSettings(applications, composeFiles),
);
const page = new URL('docs/operating/settings.md', root);
const style = { ...(await resolveConfig(page)), parser: 'markdown' };
await writeFile(page, await format(renderSettingsPage(applications), style));
