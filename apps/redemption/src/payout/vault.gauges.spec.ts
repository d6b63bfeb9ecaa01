import { describe, expect, it } from '@jest/globals';
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

describe('VaultGauges', () => {
  const registry = new Registry();
  let answer: () => Promise<VaultFacts> = () => Promise.resolve(FACTS);
  const gauges = new VaultGauges(
    { facts: () => answer() } as VaultConditions,
    { tokenDecimals: 2 } as ChainLink,
    registry,
    createLogger({ app: 'test', level: 'silent' }),
  );

  async function lines(): Promise<string[]> {
    const text = await registry.metrics();
    return text.split('\n').filter((line) => line.startsWith('lowmark_'));
  }

  it('say nothing before the first look', async () => {
    expect(await lines()).toEqual([]);
  });

  it('tell what the vault holds and may pay, in whole tokens', async () => {
    gauges.onApplicationBootstrap();
    await gauges.beforeApplicationShutdown();
    expect(await lines()).toEqual([
      'lowmark_vault_balance_tokens 12.5',
      'lowmark_vault_window_remaining_tokens 0.1',
      'lowmark_vault_paused 1',
    ]);
  });

  it('say nothing while the vault cannot be read', async () => {
    answer = () => Promise.reject(new Error('away'));
    await gauges.refresh();
    expect(await lines()).toEqual([]);
  });
});
