/**
 * All endpoints deny claims: points go back although their vouchers were claimed, up to the wallet's daily budget and
 * the vault's cap.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toFunctionSelector } from 'viem';
import { testConstants } from '#libs/config';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import {
  addPartner,
  addPrice,
  aPlayer,
  errorOf,
  inState,
  type Service,
  startService,
  QUICK_PAYOUTS,
} from '../../src/testing/redemption-harness.support.js';
import { SIGNER } from '../../src/testing/stage.support.js';
import { claim, pass, takeAll, tokens, voucherFor } from './bounds.support.js';

const STATUS = toFunctionSelector('status(bytes32)');
const REMAINING = toFunctionSelector('remainingInWindow()');
const NO_CLAIM = `0x${'0'.repeat(64)}`;
const MUCH = `0x${'f'.repeat(32).padStart(64, '0')}`;

const BUDGET = 1000;
const CAP = 1500;
/** Worth 50 dollars: 333 tokens and a third. */
const POINTS = 5000;
/** Seconds until after a voucher's deadline, with the rounding. */
const DEADLINE_SECONDS = 620;

/** Faults with which no voucher appears claimed, and the vault appears able to pay any amount. */
const DENIAL: Fault[] = [
  { kind: 'empty-logs' },
  {
    kind: 'lie',
    change: ({ method, params }) => {
      const [call] = params as [{ data?: string }?];
      if (method !== 'eth_call' || call?.data === undefined) return undefined;
      if (call.data.startsWith(STATUS)) return NO_CLAIM;
      return call.data === REMAINING ? MUCH : undefined;
    },
  },
];

describe.each([
  ['the only endpoint', [1]],
  ['two endpoints that collude', [1, 2]],
])('%s, denying every claim', (_who, endpoints) => {
  let service: Service;
  let nodes: FaultyNode[];

  beforeAll(async () => {
    service = await startService(
      {
        WALLET_DAILY_TOKEN_BUDGET: String(BUDGET),
        VOUCHER_TTL_SECONDS: '600',
        ...testConstants({ ...QUICK_PAYOUTS, voucherCoolDownSeconds: 0 }),
      },
      async (upstream) => {
        const fault = DENIAL;
        nodes = await Promise.all(endpoints.map(() => startFaultyNode({ upstream, fault })));
        return nodes.map(({ url }) => url).join(',');
      },
      { windowCap: tokens(CAP) },
    );
    await addPartner(service, 'Arena');
    await addPrice(service);
  });
  afterAll(async () => {
    await service.stop();
    await Promise.all(nodes.map((node) => node.close()));
  });

  it('give a wallet tokens for points that come back, until its day is spent', async () => {
    const { bench, game } = service;
    const user = await aPlayer(service, POINTS);
    const settled = async ({ id }: { readonly id: string }) => {
      expect(game.points.get(user.wallet)).toBe(0);
      await pass(service, DEADLINE_SECONDS);
      await inState(service, id, 'reverted');
      await addPrice(service);
    };
    expect(await takeAll(service, user, { points: POINTS, settled })).toBe('WALLET_BUDGET_SPENT');
    const took = await bench.tokens(user.wallet);
    expect(took).toBeGreaterThan(tokens(BUDGET - 334));
    expect(took).toBeLessThanOrEqual(tokens(BUDGET));
    expect(game.points.get(user.wallet)).toBe(POINTS);
  });

  it('give all wallets together no more than the cap of the window', async () => {
    const { bench } = service;
    const left = (await bench.view('remainingInWindow')) as bigint;
    expect(left).toBeLessThan(tokens(CAP));
    const ends: (string | undefined)[] = [];
    for (let wallet = 0; wallet < 3; wallet++) {
      const user = await aPlayer(service, POINTS);
      const taken = await voucherFor(service, user, POINTS);
      ends.push(typeof taken === 'string' ? taken : await claim(service, taken));
    }
    expect(ends).toEqual([undefined, 'WindowCapExceeded', 'WindowCapExceeded']);
    const paid = tokens(10 ** 6) - (await bench.tokens(bench.vault));
    expect(paid).toBeLessThanOrEqual(tokens(CAP));
  });
});

describe('the only endpoint, making claims up', () => {
  it('keeps points from their players, moves no token, and leaves the voucher good until its deadline', async () => {
    let twin: VaultBench | undefined;
    // The only endpoint of the service serves another chain, with a vault at the same address.
    const service = await startService({}, async (url) => {
      const asked = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(asked) });
      const { result } = (await answer.json()) as { result: string };

      twin = await VaultBench.start({ canceller: SIGNER }, Number(result));
      return twin.chain.url;
    });
    try {
      await addPartner(service, 'Arena');
      await addPrice(service);
      const { bench, game } = service;
      expect(twin?.vault).toBe(bench.vault);
      const user = await aPlayer(service, POINTS);
      const taken = await voucherFor(service, user, POINTS);
      if (typeof taken === 'string' || !twin) throw new Error('no voucher');
      const { calldata } = taken;
      await twin.mineAt(bench.seconds + 12, twin.to(VaultBench.STRANGER, calldata));
      await twin.finalise();
      await inState(service, taken.id, 'claimed');
      expect(game.points.get(user.wallet)).toBe(0);
      expect(await bench.tokens(user.wallet)).toBe(0n);
      expect(errorOf(await user.post(`/api/redemptions/${taken.id}/cancel`))).toMatchObject({
        status: 409,
      });
      expect(await claim(service, taken)).toBeUndefined();
      expect(await bench.tokens(user.wallet)).toBeGreaterThan(tokens(333));
    } finally {
      await service.stop();
      await twin?.stop();
    }
  });
});
