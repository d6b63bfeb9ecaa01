import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import {
  appSettings,
  type AppSettings,
  renderEnvExample,
  renderSettingsPage,
  Setting,
} from './index.js';

const root = new URL('../../../', import.meta.url);

async function applications(): Promise<AppSettings[]> {
  const paths = globSync('apps/*/src/*.env.ts', { cwd: root });
  const found = paths.map(async (path) => {
    const exported = (await import(new URL(path, root).href)) as Record<string, unknown>;
    return appSettings(path.split('/')[1] ?? '', exported);
  });
  return (await Promise.all(found)).filter(({ app }) => app !== 'stack');
}

class One {
  @Setting({ description: 'Shared by both.', example: 'x', secret: true })
  readonly sharedName!: string;

  @Setting({ description: 'A flag.', default: 'false' })
  readonly someFlag!: boolean;
}

class Two {
  @Setting({ description: 'Shared by both.', example: 'x', secret: true })
  readonly sharedName!: string;

  @Setting({ description: 'Either a or <b>.', optional: true })
  readonly another?: string;
}

describe('.env.example', () => {
  it('is what the settings classes say: npm run env:example', async () => {
    const found = await applications();
    expect(readFileSync(new URL('.env.example', root), 'utf8')).toBe(renderEnvExample(found));
    const page = readFileSync(new URL('docs/operating/settings.md', root), 'utf8');
    const style = { ...(await resolveConfig('docs/operating/settings.md')), parser: 'markdown' };
    expect(page).toBe(await format(renderSettingsPage(found), style));
  });

  it('shows each variable once, the shared ones first, and only required ones without a #', () => {
    const both = [appSettings('two', { Two, other: 1 }), appSettings('one', { One })];
    const text = renderEnvExample(both).split('\n').slice(3).join('\n');
    expect(text).toBe(`# --- one, two ---

# Shared by both.
SHARED_NAME=x

# --- one ---

# A flag.
#SOME_FLAG=false

# --- two ---

# Either a or <b>.
#ANOTHER=
`);
    expect(renderSettingsPage(both)).toContain(
      '- `SHARED_NAME` (**required**, secret): Shared by both.\n\n## one\n\n' +
        '- `SOME_FLAG` (default `false`): A flag.\n\n## two\n\n- `ANOTHER` (optional): Either a or \\<b>.\n',
    );
  });
});
