import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { VaultBench } from '#libs/testing/vault';
import { SECRETS_KEY, serveOn } from './testing/redemption-harness.support.js';
import { type Stage, startStage, stopStage } from './testing/stage.support.js';

const REGISTRY = {
  REGISTRY_ADDRESS: `0x${'1'.repeat(40)}`,
  REGISTRY_FIRST_DAY: '2026-01-01',
};

const { SIGNER_KEY } = VaultBench;

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ maxTtlSeconds: 3600n });
});
afterAll(() => stopStage(stage));

describe('starting', () => {
  it.each<[string, Record<string, string>, string, RegExp?]>([
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
      { ...REGISTRY, REGISTRY_PRIVATE_KEY: SIGNER_KEY },
      'REGISTRY_KEY_SHARED',
    ],
    [
      'a publisher whose key pauses the vault',
      { ...REGISTRY, VAULT_PAUSER_KEY: '66'.repeat(32), REGISTRY_PRIVATE_KEY: '66'.repeat(32) },
      'REGISTRY_KEY_SHARED',
    ],
    [
      'the signer’s key as the pauser’s, in whatever spelling',
      { VAULT_PAUSER_KEY: `0x${SIGNER_KEY.toUpperCase()}` },
      'PAUSER_IS_SIGNER',
    ],
    [
      'vouchers that live longer than the vault pays them',
      { VOUCHER_TTL_SECONDS: '3601' },
      'VOUCHER_TTL_TOO_LONG',
      /^VOUCHER_TTL_SECONDS: 3601 is longer than 3600, the maxTtlSeconds of 0x[0-9a-f]{40}\. Lower it\.$/,
    ],
  ])('is refused with %s', async (_, overrides, code, message = /./) => {
    const refusal = serveOn(stage, overrides);
    await expect(refusal).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    await expect(refusal).rejects.not.toThrow(SIGNER_KEY);
  });

  it('is fine with vouchers that live as long as the vault pays them', async () => {
    const { stop } = await serveOn(stage, { VOUCHER_TTL_SECONDS: '3600' });
    await stop();
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
    const message = await serveOn(stage, development).then(
      () => 'started',
      (error: unknown) => (error as Error).message,
    );
    const { NODE_ENV, ...named } = development;
    expect(NODE_ENV).toBe('production');
    for (const variable of Object.keys(named)) expect(message).toContain(`${variable}: `);
    expect(message).not.toContain(key);
  });
});
