import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { environmentOrStack } from './index.js';

const path = join(mkdtempSync(join(tmpdir(), 'stack-')), 'stack.json');
writeFileSync(path, JSON.stringify({ databaseUrl: 'postgresql://stack', secretsKey: 'stack-key' }));

describe('environmentOrStack', () => {
  it('takes database and key from the stack where the environment names no database', () => {
    expect(environmentOrStack({ LOG_LEVEL: 'debug', SECRETS_KEY: 'other' }, path)).toMatchObject({
      LOG_LEVEL: 'debug',
      DATABASE_URL: 'postgresql://stack',
      SECRETS_KEY: 'stack-key',
    });
  });

  it('never mixes the key of the stack with the database of the environment', () => {
    const environment = { DATABASE_URL: 'postgresql://mine' };
    expect(environmentOrStack(environment, path)).toEqual(environment);
    const byFile = { DATABASE_URL_FILE: '/run/secrets/url' };
    expect(environmentOrStack(byFile, path)).toEqual(byFile);
  });

  it('is the environment where no stack has run', () => {
    expect(environmentOrStack({ A: 'b' }, `${path}.absent`)).toEqual({ A: 'b' });
  });
});
