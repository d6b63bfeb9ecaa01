/** Plans and evidence by our own clock, where the chain's blocks claim other times. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { RpcPool } from '#libs/chain';
import { mintUuidV7 } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { type CommittedPayout } from './payout.js';
import { aVoucherPayout } from '../testing/cancel-policy.support.js';
import { type VoucherPayout } from './voucher-payout.js';

const { RECIPIENT } = VaultBench;
const TTL = 600;
const MARGIN = 300;
/** Seconds between the newest block and the final one. */
const FINALITY = 4 * 12;

describe('VoucherPayout, by our own clock,', () => {
  let bench: VaultBench;
  let nodes: [FaultyNode, FaultyNode];
  let clock: FakeClock;

  beforeAll(async () => {
    bench = await VaultBench.start();
    await bench.finalise();
  });
  afterAll(() => bench.stop());
  beforeEach(async () => {
    const upstream = bench.chain.url;
    nodes = [await startFaultyNode({ upstream }), await startFaultyNode({ upstream })];
    clock = new FakeClock(bench.seconds * 1000);
  });
  afterEach(() => Promise.all(nodes.map((node) => node.close())));

  function aPayout(...through: FaultyNode[]): VoucherPayout {
    const urls = through.map(({ url }) => url);
    const pool = new RpcPool({ urls, clock, sleep: () => Promise.resolve() });
    return aVoucherPayout(bench, clock, { pool, expiryMarginSeconds: MARGIN });
  }

  async function committed(payouts: VoucherPayout): Promise<CommittedPayout> {
    const redemptionId = mintUuidV7(clock.nowMs(), randomBytes(10));
    const ask = { id: redemptionId, wallet: RECIPIENT, tokenAmount: 7n };
    return { redemptionId, ...(await payouts.plan(ask)) };
  }

  /** Mines until a final block is later than the payout's deadline. */
  async function expire({ plan }: CommittedPayout): Promise<void> {
    await bench.mineAt(plan.deadlineSeconds + 1);
    await bench.finalise();
  }

  it('plans nothing where the final block is more than five minutes ahead', async () => {
    const payouts = aPayout(...nodes);
    clock.set((bench.seconds - FINALITY - 300) * 1000);
    const { plan } = await committed(payouts);
    expect(plan.deadlineSeconds).toBe(bench.seconds - FINALITY - 300 + TTL);
    clock.advance(-1000);
    await expect(committed(payouts)).rejects.toMatchObject({
      code: 'RPC_ALL_ENDPOINTS_FAILED',
      failures: [{ code: 'RPC_FINAL_BLOCK_REFUSED' }, { code: 'RPC_FINAL_BLOCK_REFUSED' }],
    });
  });

  describe.each([0, 1])('with endpoint %d that lies', (liar) => {
    const lie = (seconds: number): void => {
      for (const [index, node] of nodes.entries()) {
        node.fault = index === liar ? { kind: 'false-final', seconds } : undefined;
      }
    };

    it('a week ahead, plans by the other one and our own clock', async () => {
      lie(7 * 86_400);
      const { plan } = await committed(aPayout(...nodes));
      expect(plan.deadlineSeconds).toBe(bench.seconds + TTL);
    });

    it.each([340, -60, -7 * 86_400])(
      '%d seconds beside the other one, plans nothing',
      async (by) => {
        lie(by);
        await expect(committed(aPayout(...nodes))).rejects.toMatchObject({
          code: 'RPC_ENDPOINTS_DISAGREE',
        });
      },
    );
  });

  it('gives points back a margin after the deadline by our clock, with a single endpoint', async () => {
    const [node] = nodes;
    const payouts = aPayout(node);
    const payout = await committed(payouts);
    await expire(payout);
    clock.set((payout.plan.deadlineSeconds + MARGIN) * 1000);
    expect(await payouts.observe([payout])).toEqual([{ outcome: 'live' }]);
    clock.advance(1000);
    expect(await payouts.observe([payout])).toMatchObject([{ outcome: 'dead' }]);
  });

  it('gives them back once the deadline is over by our clock, with two endpoints', async () => {
    const payouts = aPayout(...nodes);
    const payout = await committed(payouts);
    await expire(payout);
    clock.set(payout.plan.deadlineSeconds * 1000);
    expect(await payouts.observe([payout])).toEqual([{ outcome: 'live' }]);
    clock.advance(1000);
    expect(await payouts.observe([payout])).toMatchObject([{ outcome: 'dead' }]);
  });
});
