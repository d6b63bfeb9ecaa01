/** Writes .env.example and docs/operating/settings.md from the settings classes of the built applications. */
import { glob, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { appSettings, renderEnvExample, renderSettingsPage } from '#libs/config';

const root = new URL('../../', import.meta.url);
const applications = [];
for await (const path of glob('dist/apps/*/src/*.env.js', { cwd: root })) {
  const app = path.split('/')[2];
  // The stack passes its settings on to the services, whose classes describe the settings.
  if (app === 'stack') continue;
  applications.push(appSettings(app, await import(new URL(path, root))));
}
await writeFile(new URL('.env.example', root), renderEnvExample(applications));
const page = new URL('docs/operating/settings.md', root);
const style = { ...(await resolveConfig(page)), parser: 'markdown' };
await writeFile(page, await format(renderSettingsPage(applications), style));
