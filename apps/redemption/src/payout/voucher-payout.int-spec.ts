/** Vouchers on a real chain, from the plan to the evidence, also of what the ledger has no plan of. */
import { afterAll, beforeAll, describe, expect, it, beforeEach } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { addressOfKey, RpcPool } from '#libs/chain';
import { type Address, mintUuidV7, RetryableError } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { type CommittedPayout } from './payout.js';
import { type VoucherPayout } from './voucher-payout.js';
import {
  cancelled,
  FIFTY_USD,
  type VoucherPayoutOptions,
  vouchersOn,
  aVoucherPayout,
} from '../testing/cancel-policy.support.js';

const { OTHER_KEY, RECIPIENT, STRANGER, PAUSER } = VaultBench;
const canceller = addressOfKey(OTHER_KEY);
const TTL = 600;
const MARGIN = 300;
/** Seconds between the newest block and the final one. */
const FINALITY = 4 * 12;

describe('VoucherPayout', () => {
  let bench: VaultBench;
  let pool: RpcPool;
  let clock: FakeClock;

  beforeAll(async () => {
    bench = await VaultBench.start({ canceller, funds: 5_000n, windowCap: 2_000n });
    await bench.finalise();
    clock = new FakeClock(bench.seconds * 1000);
    pool = new RpcPool({ urls: [bench.chain.url], clock, sleep: () => Promise.resolve() });
  });
  afterAll(() => bench.stop());

  function aPayout(changes: Partial<VoucherPayoutOptions> = {}): VoucherPayout {
    return vouchers(changes).payouts;
  }

  function vouchers(changes: Partial<VoucherPayoutOptions> = {}) {
    clock.set(bench.seconds * 1000);
    return vouchersOn(bench, clock, { pool, cancellerKey: OTHER_KEY, ...changes });
  }

  function anAsk(wallet: Address, tokenAmount: bigint) {
    const id = mintUuidV7(clock.nowMs(), randomBytes(10));
    return { id, wallet, tokenAmount };
  }

  async function committed(payouts: VoucherPayout, tokenAmount = 100n): Promise<CommittedPayout> {
    const ask = anAsk(RECIPIENT, tokenAmount);
    const { plan, place } = await payouts.plan(ask);
    return { redemptionId: ask.id, plan, place };
  }

  async function claimed(payouts: VoucherPayout, payout: CommittedPayout, on = bench) {
    const { calldata } = await payouts.authorise({ ...payout, isSealed: true });
    const [outcome] = await on.mine(on.to(STRANGER, calldata as `0x${string}`));
    return outcome;
  }

  describe('plans', () => {
    it('a deadline that lies its whole life after our clock, whatever time the final block is of', async () => {
      const payouts = aPayout();
      const head = await bench.chain.player.head();
      const ask = anAsk(RECIPIENT, 7n);
      clock.set(bench.seconds * 1000 + 1);
      const { plan, place } = await payouts.plan(ask);
      expect(plan).toEqual({
        recipient: RECIPIENT,
        amount: 7n,
        deadlineSeconds: bench.seconds + 1 + TTL,
      });
      expect(place).toEqual({ ...bench.place, fromBlock: head - 4n });
    });

    it.each([
      ['to the vault', () => anAsk(bench.vault, 1n)],
      ['to nobody', () => anAsk(`0x${'0'.repeat(40)}` as Address, 1n)],
      ['to a precompile', () => anAsk(`0x${'4'.padStart(40, '0')}` as Address, 1n)],
      ['to the token', () => anAsk(bench.chain.contracts.token, 1n)],
      ['of nothing', () => anAsk(RECIPIENT, 0n)],
    ])('none %s', async (_case, ask) => {
      await expect(aPayout().plan(ask())).rejects.toMatchObject({ code: 'VOUCHER_INVALID' });
    });

    it('none where the final block is more than five minutes ahead of our clock', async () => {
      const payouts = aPayout();
      clock.set((bench.seconds - FINALITY - 300) * 1000);
      const { plan } = await payouts.plan(anAsk(RECIPIENT, 7n));
      expect(plan.deadlineSeconds).toBe(bench.seconds - FINALITY - 300 + TTL);
      clock.advance(-1000);
      await expect(payouts.plan(anAsk(RECIPIENT, 7n))).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
        failures: [{ code: 'RPC_FINAL_BLOCK_REFUSED' }],
      });
    });

    it('by the other endpoint where one is a week ahead', async () => {
      const upstream = bench.chain.url;
      const fault = { kind: 'false-final', seconds: 7 * 86_400 } as const;
      const liar = await startFaultyNode({ upstream, fault });
      const urls = [liar.url, upstream];
      const both = new RpcPool({ urls, clock, sleep: () => Promise.resolve() });
      const { plan } = await aPayout({ pool: both }).plan(anAsk(RECIPIENT, 7n));
      expect(plan.deadlineSeconds).toBe(bench.seconds + TTL);
      await liar.close();
    });

    it('none where the chain cannot be asked', async () => {
      const urls = ['http://127.0.0.1:9/'];
      const silent = new RpcPool({ urls, clock, sleep: () => Promise.resolve() });
      const { payouts, conditions } = vouchers({ pool: silent });
      await expect(payouts.plan(anAsk(RECIPIENT, 1n))).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
      });
      expect(await conditions.refusal(1n, 0n)).toMatchObject({ reason: 'chain' });
      expect(await conditions.report()).toEqual({
        faults: [],
        concerns: [expect.stringContaining('RPC_ALL_ENDPOINTS_FAILED')],
      });
    });
  });

  it('gives points back a margin after the deadline by our clock, where there is one endpoint', async () => {
    const payouts = aPayout({ expiryMarginSeconds: MARGIN });
    const payout = await committed(payouts);
    const { deadlineSeconds } = payout.plan;
    await bench.mineAt(deadlineSeconds + 1);
    await bench.finalise();
    clock.set((deadlineSeconds + MARGIN) * 1000);
    expect(await payouts.observe([payout])).toEqual([{ outcome: 'live' }]);
    clock.advance(1000);
    expect(await payouts.observe([payout])).toMatchObject([{ outcome: 'dead' }]);
  });

  describe('tells the user', () => {
    it('that payouts are paused, until they are not', async () => {
      const { conditions } = vouchers();
      await bench.mine(bench.call(PAUSER, 'pause'));
      expect(await conditions.refusal(1n, 0n)).toMatchObject({ reason: 'paused' });
      expect(await conditions.room(1n)).toBe(0n);
      await bench.mine(bench.call(bench.admin, 'unpause'));
      expect(await conditions.refusal(1n, 0n)).toMatchObject({ reason: 'paused' });
      clock.advance(10_000);
      expect(await conditions.refusal(1n, 0n)).toBeUndefined();
    });

    it('that the amount is above the cap, the window or the balance', async () => {
      expect(await vouchers().conditions.refusal(2_001n, 0n)).toMatchObject({ reason: 'too-much' });
      const { payouts, conditions } = vouchers();
      await claimed(payouts, await committed(payouts, 500n));
      const { remainingInWindow } = await conditions.facts();
      expect(await conditions.refusal(remainingInWindow + 1n, 0n)).toMatchObject({
        reason: 'window',
      });
      expect(await conditions.refusal(remainingInWindow, 0n)).toBeUndefined();
      const poor = await bench.another({ canceller, funds: 5n });
      bench.seconds = poor.seconds;
      const { conditions: poorly } = vouchers({ place: poor.place });
      expect(await poorly.refusal(5n, 0n)).toBeUndefined();
      expect(await poorly.refusal(6n, 0n)).toMatchObject({ reason: 'balance' });
      expect(await poorly.refusal(3n, 2n)).toBeUndefined();
      expect(await poorly.refusal(3n, 3n)).toMatchObject({ reason: 'balance' });
    });

    it('that payouts are impossible where the signer lacks its role or there is no vault', async () => {
      const unsigned = vouchers({ signerKey: '33'.repeat(32) }).conditions;
      expect(await unsigned.refusal(1n, 0n)).toMatchObject({ reason: 'set-up' });
      const place = { ...bench.place, vault: aWallet(0xfeed) };
      expect(await vouchers({ place }).conditions.refusal(1n, 0n)).toMatchObject({
        reason: 'set-up',
      });
    });

    it('what a partner’s limits may name at the most: the window’s rest, or the balance where that is less', async () => {
      expect(await vouchers().conditions.room(2_001n)).toBe(0n);
      const left = (await vouchers().conditions.facts()).remainingInWindow;
      expect(await vouchers().conditions.room(10n)).toBe(left);
      const poor = await bench.another({ canceller, funds: 7n });
      bench.seconds = poor.seconds;
      expect(await vouchers({ place: poor.place }).conditions.room(7n)).toBe(7n);
      const urls = ['http://127.0.0.1:9/'];
      const silent = new RpcPool({ urls, clock, sleep: () => Promise.resolve() });
      expect(await vouchers({ pool: silent }).conditions.room(1n)).toBe(0n);
    });
  });

  describe('after the vault was replaced', () => {
    it('pays and cancels no new way, and finds what became of the old payouts', async () => {
      const before = aPayout();
      const [paid, dead] = [await committed(before), await committed(before)];
      const next = await bench.another({ canceller });
      const after = aPayout({ place: next.place });
      await claimed(before, paid);
      await cancelled(after, dead);
      next.seconds = bench.seconds;
      const fresh = await committed(after);
      await claimed(after, fresh, next);
      await next.finalise();
      bench.seconds = next.seconds;
      expect(await after.observe([paid, fresh, dead])).toMatchObject([
        { outcome: 'paid', recipient: RECIPIENT },
        { outcome: 'paid' },
        { outcome: 'dead', reason: 'cancelled' },
      ]);
      await expect(after.authorise({ ...paid, isSealed: true })).rejects.toMatchObject({
        code: 'PAYOUT_PLACE_REPLACED',
      });
    });

    it('doubts a payout of another chain or of an address that is no vault, not the others', async () => {
      const payouts = aPayout();
      const payout = await committed(payouts);
      const { place } = payout;
      const elsewhere = { ...payout, place: { ...place, chainId: place.chainId + 1 } };
      const nowhere = { ...payout, place: { ...place, vault: aWallet(0xfeed) } };
      expect(await payouts.observe([elsewhere, payout, nowhere])).toMatchObject([
        { outcome: 'live', doubt: { kind: 'contradiction' } },
        { outcome: 'live' },
        { outcome: 'live', doubt: { kind: 'unconfirmed' } },
      ]);
      await expect(payouts.observe([nowhere])).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
      });
      expect(() => {
        payouts.requestCancel(elsewhere, FIFTY_USD);
      }).toThrow(expect.objectContaining({ code: 'PAYOUT_OF_ANOTHER_CHAIN' }));
    });
  });
});

/** What the simulation of the engine, with its one vault and one life of vouchers, does not have. */
describe('evidence of what the ledger has no plan of', () => {
  let bench: VaultBench;
  let pool: RpcPool;
  /** Our clock shows the chain's time. */
  const clock = { nowMs: () => bench.seconds * 1000 };

  beforeAll(async () => {
    bench = await VaultBench.start({ canceller: canceller });
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
      old = await bench.another({ canceller: canceller });
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
