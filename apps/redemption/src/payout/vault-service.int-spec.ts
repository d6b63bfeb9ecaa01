/** The whole service on a vault, the settings that it refuses to start with, and a theft while it runs. */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { addressOfKey, vaultIdOf } from '#libs/chain';
import { mintUuidV7 } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';
import { ClaimWatchService } from '../claim-watch/claim-watch.service.js';
import {
  addPartner,
  addPrice,
  aPlayer,
  inState,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';

const CANCELLER_KEY = VaultBench.OTHER_KEY;
const PAUSER_KEY = '44'.repeat(32);
const canceller = addressOfKey(CANCELLER_KEY);
const pauser = addressOfKey(PAUSER_KEY);

let service: Service | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

async function aService(
  overrides: Record<string, string>,
  vault: Parameters<typeof startService>[2],
): Promise<Service> {
  service = await startService(overrides, undefined, vault);
  await addPartner(service, 'Arena');
  await addPrice(service);
  return service;
}

describe('on a vault', () => {
  it('a redemption is cancelled, from the first request to the end', async () => {
    const running = await aService({ VAULT_CANCELLER_KEY: CANCELLER_KEY }, { canceller });
    const { bench } = running;
    const user = await aPlayer(running);
    const dropped = (await user.redeem('arena', 5000).expect(201)).body.id as string;
    await inState(running, dropped, 'authorised');
    await user.post(`/api/redemptions/${dropped}/cancel`).expect(202);
    await untilWaiting(running);
    await bench.mine();
    await bench.finalise();
    await inState(running, dropped, 'reverted');
    expect(running.game.points.get(user.wallet)).toBe(10_000);
    expect(running.logs.join('')).not.toContain('is the key that signs');
  });
});

/** Waits until a transaction of the canceller is pending. */
async function untilWaiting({ bench, clock }: Service): Promise<void> {
  const count = async (at: string) =>
    Number(await bench.chain.rpc.call<string>('eth_getTransactionCount', canceller, at));
  for (let looks = 0; looks < 200; looks++) {
    if ((await count('pending')) > (await count('latest'))) return;
    clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('no cancellation was sent');
}

describe('the service does not start', () => {
  it('with vouchers that live longer than the vault pays them', async () => {
    await expect(
      aService({ VOUCHER_TTL_SECONDS: '601' }, { maxTtlSeconds: 600n }),
    ).rejects.toMatchObject({
      code: 'VOUCHER_TTL_TOO_LONG',
      message: expect.stringMatching(
        /^VOUCHER_TTL_SECONDS: 601 is longer than 600, the maxTtlSeconds of 0x[0-9a-f]{40}\. Lower it\.$/,
      ),
    });
  });

  it('with the signer’s key as the pauser’s, in whatever spelling', async () => {
    const key = `0x${VaultBench.SIGNER_KEY.toUpperCase()}`;
    await expect(aService({ VAULT_PAUSER_KEY: key }, {})).rejects.toMatchObject({
      code: 'PAUSER_IS_SIGNER',
      message: expect.not.stringContaining(VaultBench.SIGNER_KEY),
    });
  });

  it('but does with vouchers that live as long, and warns where one key signs and cancels', async () => {
    const { logs } = await aService({ VOUCHER_TTL_SECONDS: '600' }, { maxTtlSeconds: 600n });
    expect(logs.join('')).toContain('The key that cancels vouchers is the key that signs them');
  });
});

describe('a theft', () => {
  it('pauses the vault while the service runs, and its figures say so', async () => {
    const running = await aService({ VAULT_PAUSER_KEY: PAUSER_KEY }, { pauser });
    const { bench, app, url, clock, logs } = running;
    await bench.chain.rpc.call('anvil_setBalance', pauser, '0xde0b6b3a7640000');
    const watch = app.get(ClaimWatchService);
    await watch.check();
    const metrics = async () => (await request(url).get('/metrics')).text;
    expect(await metrics()).toMatch(/^lowmark_claims_unauthorised(\{.*\})? 0$/m);

    const vaultId = vaultIdOf(mintUuidV7(clock.nowMs(), randomBytes(10)));
    const forged = bench.voucher({ vaultId, recipient: aWallet(0x7e1f) });
    expect(await bench.refusal(bench.claim(forged))).toBeUndefined();
    await watch.check();
    await bench.mine();
    expect(await bench.view('paused')).toBe(true);
    expect(logs.filter((line) => line.includes('"alert":"claim-unauthorised"'))).toHaveLength(1);
    const figures = await metrics();
    expect(figures).toMatch(/^lowmark_claims_unauthorised(\{.*\})? 1$/m);
    expect(figures).toMatch(/lowmark_alerts_total\{.*code="claim-unauthorised".*\} 1/);
    expect(figures).toMatch(/^lowmark_claim_watch_timestamp_seconds(\{.*\})? 17\d+/m);
    // Facts of the vault are kept for ten seconds at most.
    clock.advance(10_000);
    const user = await aPlayer(running);
    expect((await user.redeem('arena', 5000)).body).toMatchObject({ code: 'PAYOUTS_UNAVAILABLE' });
  });
});
