import { describe, expect, it } from '@jest/globals';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { VaultBench } from '#libs/testing/vault';
import { SECRETS_KEY, startService } from './testing/redemption-harness.support.js';

const REGISTRY = {
  REGISTRY_ADDRESS: `0x${'1'.repeat(40)}`,
  REGISTRY_FIRST_DAY: '2026-01-01',
};

describe('starting', () => {
  it.each([
    ['another chain', { CHAIN_ID: '1' }, 'RPC_CHAIN_MISMATCH'],
    ['private partners in production', { NODE_ENV: 'production' }, 'DEVELOPMENT_SETTINGS'],
    [
      'sign-in from this machine in production',
      { NODE_ENV: 'production', SIWE_DOMAINS: 'localhost:3002' },
      'DEVELOPMENT_SETTINGS',
    ],
    [
      'a published key in production',
      {
        NODE_ENV: 'production',
        VOUCHER_SIGNER_KEY: 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
      },
      'DEVELOPMENT_SETTINGS',
    ],
    [
      'a chain of development in production',
      { NODE_ENV: 'production', CHAIN_ID: '31337' },
      'DEVELOPMENT_SETTINGS',
    ],
    [
      'a Redis that asks for no password in production',
      { NODE_ENV: 'production', REDIS_URL: 'redis://127.0.0.1:1' },
      'DEVELOPMENT_SETTINGS',
    ],
    [
      'an EVIDENCE_KEY that the api has as well',
      { EVIDENCE_KEY: `${EVIDENCE_KEY},${SECRETS_KEY}` },
      'EVIDENCE_KEY_SHARED',
    ],
    [
      'a registry without its key and first day',
      { REGISTRY_ADDRESS: `0x${'1'.repeat(40)}` },
      'REGISTRY_SETTINGS_INCOMPLETE',
    ],
    [
      'a publisher whose key signs vouchers',
      { ...REGISTRY, REGISTRY_PRIVATE_KEY: VaultBench.SIGNER_KEY },
      'REGISTRY_KEY_SHARED',
    ],
    [
      'a publisher whose key pauses the vault',
      { ...REGISTRY, VAULT_PAUSER_KEY: '66'.repeat(32), REGISTRY_PRIVATE_KEY: '66'.repeat(32) },
      'REGISTRY_KEY_SHARED',
    ],
  ])('is refused with %s', async (_, overrides, code) => {
    await expect(startService(overrides)).rejects.toMatchObject({ code });
  });

  it('names all that production refuses at once', async () => {
    const key = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
    const development = {
      NODE_ENV: 'production',
      CHAIN_ID: '31337',
      REDIS_URL: 'redis://127.0.0.1:1',
      SIWE_DOMAINS: 'localhost:3002',
      ALLOW_PRIVATE_PARTNERS: 'true',
      VOUCHER_SIGNER_KEY: key,
      VAULT_CANCELLER_KEY: key,
      VAULT_PAUSER_KEY: key,
      REGISTRY_PRIVATE_KEY: key,
    };
    const message = await startService(development).then(
      () => 'started',
      (error: unknown) => (error as Error).message,
    );
    const { NODE_ENV, ...named } = development;
    expect(NODE_ENV).toBe('production');
    for (const variable of Object.keys(named)) expect(message).toContain(`${variable}: `);
    expect(message).not.toContain(key);
  });
});
