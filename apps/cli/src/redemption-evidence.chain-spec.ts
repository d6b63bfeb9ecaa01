import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type PayoutPlace } from '#libs/db';
import { VaultBench } from '#libs/testing';
import { vaultIdOf, type Voucher } from '#libs/chain';
import { systemClock } from '#libs/platform';
import { newRedemption, type Redemption, type UuidV7 } from '#libs/domain';
import { chainEvidence } from './redemption/chain-evidence.js';

const ID = '0199d000-0000-7000-8000-0000000000aa' as UuidV7;

let vault: VaultBench;
beforeAll(async () => {
  vault = await VaultBench.start();
});
afterAll(() => vault.chain.stop());

function authorised(voucher: Voucher): { redemption: Redemption; place: PayoutPlace } {
  const { recipient, amount, deadlineSeconds } = voucher;
  const redemption = newRedemption(
    {
      id: ID,
      partner: '5f0c1f0e-0000-4000-8000-000000000001',
      wallet: recipient,
      points: 1n,
      usdAmount: { digits: 1n, scale: 0 },
      tokenAmount: amount,
      tokenDecimals: 18,
      priceUsd: { digits: 1n, scale: 0 },
      quoteExpiresAtMs: 0,
    },
    0,
  );
  return {
    redemption: { ...redemption, plan: { recipient, amount, deadlineSeconds } },
    place: { ...vault.place, fromBlock: 0n },
  };
}

it('asks the vault that the plan names', async () => {
  const { chain } = vault;
  const settings = {
    CHAIN_ID: String(chain.chainId),
    RPC_URLS: chain.url,
    TOKEN_CONTRACT: chain.contracts.token,
  };
  const voucher = vault.voucher({ vaultId: vaultIdOf(ID) });
  const stored = authorised(voucher);
  await vault.finalise();
  const live = await chainEvidence(stored, settings, systemClock);
  expect(live).toEqual({ asked: true, evidence: { outcome: 'live' } });
  await vault.mine(await vault.claim(voucher));
  await vault.finalise();
  const paid = await chainEvidence(stored, settings, systemClock);
  expect(paid).toMatchObject({ asked: true, evidence: { outcome: 'paid' } });
  const elsewhere = { ...stored, place: { ...stored.place, vault: chain.contracts.token } };
  const fault = await chainEvidence(elsewhere, settings, systemClock);
  expect(fault).toEqual({ asked: false, why: expect.stringMatching(/\[[A-Z_]+\]$/) });
});
