/** Tests the further indexer in docs/operating/several-contracts.md against the compose file. */
import { expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { type ComposeFile, textOf, yamlOf } from './compose-file.js';

interface Override {
  readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

it('extends the indexer, with settings and a name of its own', () => {
  const page = textOf('docs/operating/several-contracts.md');
  const [text = '', index = ''] = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(
    ([, yaml]) => yaml ?? '',
  );
  // Compose's `!override` replaces the list of the extended service, so that no setting of .env applies to the second
  // contract.
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
  expect((load(index.replace('!override', '')) as Override).services).toEqual({
    'index-golf': {
      extends: { file: 'docker-compose.yml', service: 'migrate' },
      profiles: ['cli'],
      env_file: ['golf.env'],
      environment: { STAKE_SET: 'golf', CHAIN_ID: 8453 },
    },
  });
  const { indexer } = (yamlOf('docker-compose.yml') as ComposeFile).services;
  expect(indexer?.networks).toContain('indexer');
  // The override sets every value that compose itself takes from .env for the first contract.
  const fromSettings = Object.entries(indexer?.environment ?? {}).filter(([, value]) =>
    String(value).startsWith('${'),
  );
  expect(fromSettings.map(([name]) => name)).toEqual(['CHAIN_ID']);
});
