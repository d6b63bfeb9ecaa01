/**
 * The vault's evidence about redemptions of which the ledger has no plan: what the simulation of the engine, with its
 * one vault and one life of vouchers, does not have.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { addressOfKey, RpcPool } from '#libs/chain';
import { type Address, mintUuidV7, RetryableError } from '#libs/domain';
import { VaultBench } from '#libs/testing/vault';
import { type CommittedPayout } from './payout.js';
import { type VoucherPayout } from './voucher-payout.js';
import {
  aVoucherPayout,
  cancelled,
  type VoucherPayoutOptions,
} from '../testing/cancel-policy.support.js';

const { OTHER_KEY, RECIPIENT, STRANGER } = VaultBench;
const CANCELLER = addressOfKey(OTHER_KEY);

describe('evidence of what the ledger has no plan of', () => {
  let bench: VaultBench;
  let pool: RpcPool;
  /** Our clock shows the chain's time. */
  const clock = { nowMs: () => bench.seconds * 1000 };

  beforeAll(async () => {
    bench = await VaultBench.start({ canceller: CANCELLER });
    await bench.finalise();
    pool = new RpcPool({ urls: [bench.chain.url], clock, sleep: () => Promise.resolve() });
  });
  afterAll(() => bench.stop());

  function aPayout(changes: Partial<VoucherPayoutOptions> = {}): VoucherPayout {
    return aVoucherPayout(bench, clock, { pool, cancellerKey: OTHER_KEY, ...changes });
  }

  /** A ledger that names these vaults. */
  function naming(...vaults: Address[]): Pick<VoucherPayoutOptions, 'vaults'> {
    const known = vaults.map((vault) => ({ vault, startBlock: 0n }));
    return { vaults: { of: () => Promise.resolve(known), add: () => Promise.resolve() } };
  }

  async function claimed(payouts: VoucherPayout, payout: CommittedPayout, on = bench) {
    const { calldata } = await payouts.authorise({ ...payout, isSealed: true });
    const [outcome] = await bench.mine(on.to(STRANGER, calldata as `0x${string}`));
    return outcome;
  }

  /** A payout whose voucher was signed and whose plan a restored ledger does not have. */
  async function forgotten(payouts: VoucherPayout, tokenAmount = 100n) {
    const id = mintUuidV7(clock.nowMs(), randomBytes(10));
    const ask = { id, wallet: RECIPIENT, tokenAmount, lostVoucherUntilSeconds: null };
    const payout: CommittedPayout = { redemptionId: id, ...(await payouts.plan(ask)) };
    return { payout, ask };
  }

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

  describe('on a vault that was replaced', () => {
    let old: VaultBench;
    let before: VoucherPayout;
    let after: VoucherPayout;

    beforeAll(async () => {
      old = await bench.another({ canceller: CANCELLER });
      await bench.finalise();
    });
    beforeEach(() => {
      before = aPayout({ place: old.place });
      after = aPayout(naming(old.vault));
    });

    async function expire(): Promise<void> {
      for (let block = 0; block < 6; block++) await bench.mine();
      await bench.finalise();
    }

    it('finds the claim', async () => {
      const { payout, ask } = await forgotten(before);
      const lost = { ...ask, lostVoucherUntilSeconds: bench.seconds + 60 };
      const { transactionHash } = (await claimed(before, payout, old)) ?? {};
      await expire();
      const { evidence, place } = await after.observeUnplanned(lost);
      expect(evidence).toMatchObject({ outcome: 'paid', transactionHash, amount: 100n });
      expect(place).toEqual({ ...old.place, fromBlock: 0n });
      // The same where no restore of the ledger was noted.
      expect((await after.observeUnplanned(ask)).evidence).toMatchObject({ outcome: 'paid' });
    });

    it('waits while it can be claimed, whatever another vault says', async () => {
      const { payout, ask } = await forgotten(before);
      const lost = { ...ask, lostVoucherUntilSeconds: bench.seconds + 130 };
      await cancelled(after, { ...payout, place: { ...payout.place, ...bench.place } });
      await bench.mine();
      await bench.finalise();
      expect(await after.observeUnplanned(lost)).toMatchObject({
        evidence: { outcome: 'live' },
        place: old.place,
      });
      await expire();
      await expire();
      const { evidence } = await after.observeUnplanned(lost);
      expect(evidence).toMatchObject({ outcome: 'dead', reason: 'cancelled' });
    });

    it('waits for a vault that cannot be asked, where something was lost', async () => {
      const { ask } = await forgotten(before);
      const lost = { ...ask, lostVoucherUntilSeconds: 1 };
      const wrong = aPayout(naming(bench.chain.contracts.token));
      expect((await wrong.observeUnplanned(lost)).evidence).toMatchObject({
        outcome: 'live',
        doubt: { kind: 'unconfirmed' },
      });
      expect((await wrong.observeUnplanned(ask)).evidence).toMatchObject({ outcome: 'dead' });
      const refusal = new RetryableError('NO_LEDGER', 'not now');
      const blind = aPayout({ vaults: { ...naming().vaults, of: () => Promise.reject(refusal) } });
      await expect(blind.observeUnplanned(lost)).rejects.toBe(refusal);
    });

    it('takes the voucher of before for the evidence about a plan of after', async () => {
      const { payout, ask } = await forgotten(before);
      const planned = { redemptionId: ask.id, ...(await after.plan(ask)) };
      const { deadlineSeconds } = planned.plan;
      const lost = { ...planned, lostVoucherUntilSeconds: deadlineSeconds + 120 };
      await cancelled(after, lost);
      await bench.mine();
      await bench.finalise();
      expect(await after.observe([lost])).toEqual([{ outcome: 'live' }]);
      expect(await after.observe([planned])).toMatchObject([{ outcome: 'dead' }]);
      const { transactionHash } = (await claimed(before, payout, old)) ?? {};
      await bench.finalise();
      expect(await after.observe([lost])).toMatchObject([{ outcome: 'paid', transactionHash }]);
    });
  });

  it('is no end of a plan while a lost voucher outlives it', async () => {
    const long = aPayout();
    const { payout, ask } = await forgotten(long);
    const short = aPayout({ voucherTtlSeconds: 30 });
    const planned = { redemptionId: ask.id, ...(await short.plan(ask)) };
    const lost = { ...planned, lostVoucherUntilSeconds: payout.plan.deadlineSeconds };
    for (let block = 0; block < 6; block++) await bench.mine();
    await bench.finalise();
    expect(await short.observe([planned, lost])).toMatchObject([
      { outcome: 'dead' },
      { outcome: 'live' },
    ]);
    const { transactionHash } = (await claimed(long, payout)) ?? {};
    await bench.finalise();
    const [evidence] = await short.observe([lost]);
    expect(evidence).toMatchObject({ outcome: 'paid', transactionHash });
  });
});
