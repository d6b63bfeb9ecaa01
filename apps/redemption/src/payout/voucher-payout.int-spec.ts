/** Vouchers on a real chain, from the plan to the evidence. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { addressOfKey, RpcPool } from '#libs/chain';
import { type Address, mintUuidV7 } from '#libs/domain';
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

  it('signs the same bytes again, also after a restart', async () => {
    const payouts = aPayout();
    const payout = await committed(payouts);
    const voucher = await payouts.authorise({ ...payout, isSealed: true });
    expect(await payouts.authorise({ ...payout, isSealed: true })).toEqual(voucher);
    expect(await aPayout().authorise({ ...payout, isSealed: true })).toEqual(voucher);
    expect(voucher).toMatchObject({
      ...bench.place,
      ...payout.plan,
      vaultRedemptionId: `0x${payout.redemptionId.replaceAll('-', '')}${'0'.repeat(32)}`,
    });
  });

  it('pays the recipient of the calldata for any sender, and proves it', async () => {
    const payouts = aPayout();
    const payout = await committed(payouts, 123n);
    const before = await bench.tokens(RECIPIENT);
    expect(await payouts.observe([payout])).toEqual([{ outcome: 'live' }]);
    const outcome = await claimed(payouts, payout);
    expect(outcome?.error).toBeUndefined();
    expect((await bench.tokens(RECIPIENT)) - before).toBe(123n);
    expect(await payouts.observe([payout])).toEqual([{ outcome: 'live' }]);
    await bench.finalise();
    expect(await payouts.observe([payout])).toMatchObject([
      { outcome: 'paid', amount: 123n, transactionHash: outcome?.transactionHash },
    ]);
  });

  it('gives each payout its own evidence, in their order', async () => {
    const payouts = aPayout();
    const [open, paid, expired] = [
      await committed(payouts),
      await committed(payouts),
      await committed(aPayout({ voucherTtlSeconds: 10 })),
    ];
    await claimed(payouts, paid);
    await bench.mine();
    await bench.finalise();
    clock.set(bench.seconds * 1000);
    const evidence = await payouts.observe([expired, open, paid]);
    expect(evidence).toMatchObject([
      { outcome: 'dead', reason: 'expired' },
      { outcome: 'live' },
      { outcome: 'paid' },
    ]);
    expect(await payouts.observe([])).toEqual([]);
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
    it('nothing where the vault can pay', async () => {
      const { conditions } = vouchers();
      expect(await conditions.refusal(1n, 0n)).toBeUndefined();
      expect(await conditions.report()).toEqual({ faults: [], concerns: [] });
    });

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

    it('that vouchers live longer than the vault pays them', async () => {
      const short = await bench.another({ canceller, maxTtlSeconds: BigInt(TTL - 1) });
      bench.seconds = short.seconds;
      const { conditions } = vouchers({ place: short.place });
      expect(await conditions.refusal(1n, 0n)).toMatchObject({ reason: 'set-up' });
      expect((await conditions.report()).faults).toEqual([
        expect.stringMatching(/^VOUCHER_TTL_SECONDS: 600 is longer than 599/),
      ]);
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
