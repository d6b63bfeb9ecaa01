import { expect, it } from '@jest/globals';
import { type VaultFacts } from '#libs/chain';
import { createLogger, Registry } from '#libs/service';
import { type ChainLink } from '../chain/chain-link.js';
import { type VaultConditions } from './vault-conditions.js';
import { VaultGauges } from './vault.gauges.js';

const FACTS: VaultFacts = {
  admin: undefined,
  hasCode: true,
  hasOurVoucherDomain: true,
  token: undefined,
  isSigner: true,
  isCanceller: true,
  isPauser: true,
  maxTtlSeconds: 3_600n,
  isPaused: true,
  balance: 1_250n,
  windowCap: 1_000n,
  remainingInWindow: 10n,
  windowSeconds: 60n,
};

it('the gauges of the vault tell what it holds and may pay, in whole tokens, while it can be read', async () => {
  const registry = new Registry();
  let answer = () => Promise.resolve(FACTS);
  const gauges = new VaultGauges(
    { facts: () => answer() } as VaultConditions,
    { tokenDecimals: 2 } as ChainLink,
    registry,
    createLogger({ app: 'test', level: 'silent' }),
  );
  const lines = async () =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('lowmark_'));
  expect(await lines()).toEqual([]);
  gauges.onApplicationBootstrap();
  await gauges.beforeApplicationShutdown();
  expect(await lines()).toEqual([
    'lowmark_vault_balance_tokens 12.5',
    'lowmark_vault_window_remaining_tokens 0.1',
    'lowmark_vault_paused 1',
  ]);
  answer = () => Promise.reject(new Error('away'));
  await gauges.refresh();
  expect(await lines()).toEqual([]);
});
