import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RpcPool, VoucherSigner } from '#libs/chain';
import { FakeClock } from '#libs/testing/clock';
import { VaultBench } from '#libs/testing/vault';
import { someSettings } from '../testing/cancel-policy.support.js';
import { type VaultAccounts } from './vault-accounts.js';
import { VaultConditions } from './vault-conditions.js';

let bench: VaultBench;
beforeAll(async () => {
  bench = await VaultBench.start({ windowCap: 1000n });
});
afterAll(() => bench.stop());

/** New conditions, without facts from before. */
function conditionsOf({ place, chain }: VaultBench, url = chain.url): VaultConditions {
  const clock = new FakeClock(bench.seconds * 1000);
  const signer = new VoucherSigner(place, VaultBench.SIGNER_KEY).address;
  const accounts = { signer: { address: signer }, canceller: { address: VaultBench.CANCELLER } };
  const settings = someSettings({
    chainId: place.chainId,
    vaultContract: place.vault,
    tokenContract: chain.contracts.token,
  });
  const pool = new RpcPool({ urls: [url], clock, timeoutMs: 500 });
  return new VaultConditions(settings, pool, accounts as VaultAccounts, clock);
}

describe('the room of the vault', () => {
  it('is what the window leaves, or the balance where that is less', async () => {
    expect(await conditionsOf(bench).room(10n)).toBe(1000n);
    await bench.mine(await bench.claim(bench.voucher({ amount: 400n })));
    expect(await conditionsOf(bench).room(10n)).toBe(600n);
    const poor = await bench.another({ funds: 7n, windowCap: 1000n });
    expect(await conditionsOf(poor).room(7n)).toBe(7n);
  });

  it('is none for more than is ever paid at once', async () => {
    expect(await conditionsOf(bench).room(1001n)).toBe(0n);
  });

  it('is none while the vault is paused, and while the chain cannot be asked', async () => {
    await bench.mine(bench.call(VaultBench.PAUSER, 'pause'));
    expect(await conditionsOf(bench).room(10n)).toBe(0n);
    expect(await conditionsOf(bench, 'http://127.0.0.1:1').room(10n)).toBe(0n);
  });
});
