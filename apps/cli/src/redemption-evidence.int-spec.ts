import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { testConstants } from '#libs/config';
import { FakeClock } from '#libs/testing/clock';
import { VaultBench } from '#libs/testing/vault';
import { vaultIdOf, type Voucher } from '#libs/chain';
import { systemClock } from '#libs/platform';
import {
  newRedemption,
  type PartnerId,
  type PayoutPlace,
  type Redemption,
  type UuidV7,
} from '#libs/domain';
import { chainEvidence } from '#libs/operations';

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
      partner: '5f0c1f0e-0000-4000-8000-000000000001' as PartnerId,
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

const settingsOf = ({ chain }: VaultBench): Record<string, string> => ({
  CHAIN_ID: String(chain.chainId),
  RPC_URLS: chain.url,
  TOKEN_CONTRACT: chain.contracts.token,
});

it('asks the vault that the plan names', async () => {
  const { chain } = vault;
  const settings = settingsOf(vault);
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

it.each([
  ['300, as the service', {}, 300],
  ['as it is set', testConstants({ payoutExpiryMarginSeconds: 60 }), 60],
])(
  'calls a voucher expired on the word of one endpoint only after the margin: %s',
  async (_, change, marginSeconds) => {
    const settings = { ...settingsOf(vault), ...change };
    const voucher = vault.voucher({ vaultId: vaultIdOf(ID.replace(/aa$/, 'ab')) });
    const stored = authorised(voucher);
    const expired = { ...stored.redemption, id: ID.replace(/aa$/, 'ab') as UuidV7 };
    await vault.mineAt(Math.max(vault.seconds, voucher.deadlineSeconds) + 1);
    await vault.finalise();
    const clock = new FakeClock((voucher.deadlineSeconds + marginSeconds) * 1000);
    const evidenceNow = () => chainEvidence({ ...stored, redemption: expired }, settings, clock);
    expect(await evidenceNow()).toEqual({ asked: true, evidence: { outcome: 'live' } });
    clock.advance(1000);
    expect(await evidenceNow()).toMatchObject({ asked: true, evidence: { outcome: 'dead' } });
  },
);
