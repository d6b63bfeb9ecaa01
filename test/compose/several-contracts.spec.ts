/** The further indexer that docs/operating/several-contracts.md has for compose, held against the compose file. */
import { expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { type ComposeFile, textOf, yamlOf } from './compose-file.js';

interface Override {
  readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

it('extends the indexer, with settings and a name of its own', () => {
  const page = textOf('docs/operating/several-contracts.md');
  const [, text = ''] = /```yaml\n([^]*?)```/.exec(page) ?? [];
  // Compose's own tag: the list takes the place of the one that is extended, so that nothing of .env is the second contract's.
  expect(text).toContain('env_file: !override [golf.env]');
  const { services } = load(text.replace('!override', '')) as Override;
  expect(services).toEqual({
    'indexer-golf': {
      extends: { file: 'docker-compose.yml', service: 'indexer' },
      env_file: ['golf.env'],
      environment: { STAKE_SET: 'golf', CHAIN_ID: 8453 },
      networks: { indexer: { aliases: ['indexer'] } },
    },
  });
  const { indexer } = (yamlOf('docker-compose.yml') as ComposeFile).services;
  expect(indexer?.networks).toContain('indexer');
  // What compose itself takes from .env for the first contract is set anew.
  const fromSettings = Object.entries(indexer?.environment ?? {}).filter(([, value]) =>
    String(value).startsWith('${'),
  );
  expect(fromSettings.map(([name]) => name)).toEqual(['CHAIN_ID']);
});
