/** What the vault says of a redemption whose plan the ledger does not have. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { RpcPool, VoucherSigner } from '#libs/chain';
import { mintUuidV7 } from '#libs/domain';
import { aWallet, FakeClock, VaultBench } from '#libs/testing';
import { type CommittedPayout } from './payout-port.js';
import { VoucherPayout } from './voucher-payout.js';

const { SIGNER_KEY, OTHER_KEY, RECIPIENT, STRANGER } = VaultBench;

describe('evidence of what the ledger has no plan of', () => {
  let bench: VaultBench;
  let pool: RpcPool;
  let clock: FakeClock;

  beforeAll(async () => {
    const canceller = new VoucherSigner({ chainId: 1, vault: aWallet(1) }, OTHER_KEY).address;
    bench = await VaultBench.start({ canceller });
    await bench.finalise();
    clock = new FakeClock(bench.seconds * 1000);
    pool = new RpcPool({ urls: [bench.chain.url], clock, sleep: () => Promise.resolve() });
  });
  afterAll(() => bench.stop());

  function aPayout(by = pool): VoucherPayout {
    clock.set(bench.seconds * 1000);
    return new VoucherPayout({
      pool: by,
      clock,
      place: bench.place,
      token: bench.chain.contracts.token,
      finality: 'finalized',
      voucherTtlSeconds: 600,
      signerKey: SIGNER_KEY,
      cancellerKey: OTHER_KEY,
    });
  }

  async function claimed(payouts: VoucherPayout, payout: CommittedPayout) {
    const { calldata } = await payouts.authorise(payout);
    const [outcome] = await bench.mine(bench.to(STRANGER, calldata as `0x${string}`));
    return outcome;
  }

  /** Its voucher is out, and the ledger is an older one. */
  async function forgotten(payouts: VoucherPayout, tokenAmount = 100n) {
    const id = mintUuidV7(clock.nowMs(), randomBytes(10));
    const ask = { id, wallet: RECIPIENT, tokenAmount, lostVoucherUntilSeconds: null };
    const payout: CommittedPayout = { redemptionId: id, ...(await payouts.plan(ask)) };
    return { payout, ask };
  }

  it('knows that a redemption was never paid', async () => {
    const { ask } = await forgotten(aPayout());
    const { evidence, place } = await aPayout().observeUnplanned(ask);
    expect(evidence).toMatchObject({ outcome: 'dead', reason: 'expired' });
    expect(place).toMatchObject(bench.place);
  });

  it('is none where the chain cannot be asked', async () => {
    const { ask } = await forgotten(aPayout());
    const urls = ['http://127.0.0.1:9/'];
    const silent = new RpcPool({ urls, clock, sleep: () => Promise.resolve() });
    await expect(aPayout(silent).observeUnplanned(ask)).rejects.toMatchObject({
      code: 'RPC_ALL_ENDPOINTS_FAILED',
    });
  });

  it('waits for the end of a lost voucher', async () => {
    const payouts = aPayout();
    const { ask } = await forgotten(payouts);
    const lost = { ...ask, lostVoucherUntilSeconds: bench.seconds + 60 };
    expect((await payouts.observeUnplanned(lost)).evidence).toEqual({ outcome: 'live' });
    for (let block = 0; block < 6; block++) await bench.mine();
    await bench.finalise();
    const { evidence } = await payouts.observeUnplanned(lost);
    expect(evidence).toMatchObject({ outcome: 'dead', reason: 'expired' });
  });

  it('finds the claim of long ago', async () => {
    const payouts = aPayout();
    const { payout, ask } = await forgotten(payouts);
    const outcome = await claimed(payouts, payout);
    await bench.finalise();
    await bench.mine();
    await bench.finalise();
    const { evidence } = await payouts.observeUnplanned(ask);
    const { transactionHash } = outcome ?? {};
    expect(evidence).toMatchObject({ outcome: 'paid', transactionHash, amount: 100n });
    const planned = await payouts.plan(ask);
    expect(planned.place.fromBlock).toBe(0n);
    const again = { redemptionId: ask.id, ...planned };
    expect(await payouts.observe([again])).toMatchObject([{ outcome: 'paid', transactionHash }]);
  });

  it('finds the cancellation of long ago', async () => {
    const payouts = aPayout();
    const { payout, ask } = await forgotten(payouts);
    await payouts.requestCancel(payout);
    await bench.mine();
    await bench.finalise();
    const lost = { ...ask, lostVoucherUntilSeconds: bench.seconds + 6000 };
    const { evidence } = await payouts.observeUnplanned(lost);
    expect(evidence).toMatchObject({ outcome: 'dead', reason: 'cancelled' });
  });

  it('proves nothing by a claim of another amount', async () => {
    const payouts = aPayout();
    const { payout, ask } = await forgotten(payouts);
    await claimed(payouts, payout);
    await bench.finalise();
    const { evidence } = await payouts.observeUnplanned({ ...ask, tokenAmount: 99n });
    expect(evidence).toMatchObject({ outcome: 'live', doubt: { kind: 'contradiction' } });
    const planned = await payouts.plan({ ...ask, tokenAmount: 99n });
    expect(await payouts.observe([{ redemptionId: ask.id, ...planned }])).toMatchObject([
      { outcome: 'live', doubt: { kind: 'contradiction' } },
    ]);
  });
});
