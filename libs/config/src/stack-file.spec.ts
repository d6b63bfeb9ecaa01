import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { environmentOrStack } from './index.js';

const path = join(mkdtempSync(join(tmpdir(), 'stack-')), 'stack.json');
writeFileSync(
  path,
  JSON.stringify({
    databaseUrl: 'postgresql://stack',
    secretsKey: 'stack-key',
    chainId: 4_242,
    rpcUrl: 'http://127.0.0.1:1',
    tokenContract: '0x1',
    vaultContract: '0x2',
    vaultStartBlock: '7',
    registryAddress: '0x3',
  }),
);

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

  it('takes the chain from the stack where the environment names none, and never half of it', () => {
    const chain = {
      CHAIN_ID: '4242',
      RPC_URLS: 'http://127.0.0.1:1',
      TOKEN_CONTRACT: '0x1',
      VAULT_CONTRACT: '0x2',
      VAULT_START_BLOCK: '7',
      REGISTRY_ADDRESS: '0x3',
    };
    expect(environmentOrStack({ CHAIN_ID: '1' }, path)).toMatchObject(chain);
    const own = { CHAIN_ID: '1', RPC_URLS: 'http://own' };
    expect(environmentOrStack(own, path)).toEqual({
      ...own,
      DATABASE_URL: 'postgresql://stack',
      SECRETS_KEY: 'stack-key',
      SECRETS_KEY_FILE: undefined,
    });
  });

  it('takes the signer of the local chain with it, and not with another chain', () => {
    const signer = { rpcUrl: 'http://127.0.0.1:1', voucherSignerKey: '0xa1' };
    const keys = { VOUCHER_SIGNER_KEY: '0xa1', VAULT_CANCELLER_KEY: '0xa1' };
    const [local, other] = [true, false].map((isLocalChain) => {
      const file = join(mkdtempSync(join(tmpdir(), 'stack-')), 'stack.json');
      writeFileSync(file, JSON.stringify({ ...signer, isLocalChain }));
      return file;
    });
    expect(environmentOrStack({ VOUCHER_SIGNER_KEY_FILE: '/own' }, local)).toMatchObject({
      ...keys,
      VOUCHER_SIGNER_KEY_FILE: undefined,
    });
    expect(environmentOrStack({}, other)).not.toHaveProperty('VOUCHER_SIGNER_KEY');
    const own = { RPC_URLS: 'http://own' };
    expect(environmentOrStack(own, local)).not.toHaveProperty('VOUCHER_SIGNER_KEY');
  });

  it('is the environment where no stack has run', () => {
    expect(environmentOrStack({ A: 'b' }, `${path}.absent`)).toEqual({ A: 'b' });
  });
});
