/** The service starts while no endpoint answers. A node appears later, of the right chain or of another one. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { startChain } from '#libs/testing/chain';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { Gate } from '../testing/gate.support.js';
import {
  addPartner,
  addPrice,
  aPlayer,
  aQuietOne,
  errorOf,
  inState,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';

let gates: Gate[];
let service: Service | undefined;

beforeEach(async () => {
  service = undefined;
  gates = [await Gate.closed(), await Gate.closed()];
});
afterEach(async () => {
  for (const gate of gates) gate.close();
  await service?.stop();
});

async function startWithout(overrides: Record<string, string> = {}): Promise<Service> {
  const RPC_URLS = gates.map(({ url }) => url).join(',');
  service = await startService({ RPC_URLS, ...overrides });
  return service;
}

/** Advances the service's clock until the condition holds. */
async function until({ clock }: Service, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let looks = 0; looks < 300; looks++) {
    if (await isSo()) return;
    clock.advance(500);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not come to be so');
}

const ready = async ({ url }: Service) => {
  const { status, body } = await request(url).get('/health/ready');
  return { status, chain: body.checks.chain };
};

describe('without a chain', () => {
  it('the service starts, shows, works and refuses; with one it goes on by itself', async () => {
    const started = await startWithout();
    await started.bench.finalise();
    const partner = await addPartner(started, 'Arena');
    await addPrice(started);
    const user = await aPlayer(started);
    // As made before the chain was lost, and due.
    const nextActionAtMs = started.clock.nowMs();
    const id = await aQuietOne(started, user, { partner, nextActionAtMs });

    expect(await ready(started)).toEqual({
      status: 200,
      chain: {
        ready: true,
        details: { concerns: expect.stringContaining('has not been reached since the start') },
      },
    });
    const answer = await user.redeem('Arena', 100);
    expect(errorOf(answer)).toEqual({ status: 409, code: 'PAYOUTS_UNAVAILABLE' });
    expect(answer.headers['retry-after']).toBe('10');
    // What the vault can pay is not known, so no points are taken, and the user sees that the redemption failed.
    await inState(started, id, 'failed');
    const { body } = await user.get(`/api/redemptions/${id}`).expect(200);
    expect(body).toMatchObject({ status: 'failed', reason: 'payout-unavailable' });
    expect((await user.get('/api/redemptions').expect(200)).body.redemptions).toHaveLength(1);
    await request(started.url).get('/metrics').expect(200);

    await gates[1]?.open(started.bench.chain.url);
    await until(started, async () => (await ready(started)).chain.details.concerns === null);
    const other = await aPlayer(started);
    const made = await other.redeem('Arena', 100).expect(201);
    await inState(started, String(made.body.id), 'authorised');
    const { text } = await request(started.url).get('/metrics').expect(200);
    expect(text).toMatch(
      /lowmark_rpc_requests_total\{endpoint="127[^"]+#1",method="eth_chainId",outcome="transport",app="redemption"\} /,
    );
    expect(text).toMatch(
      /lowmark_rpc_request_seconds_count\{app="redemption",endpoint="127[^"]+#2"\} /,
    );
  });

  it('it can be stopped', async () => {
    const started = await startWithout();
    service = undefined;
    await started.stop();
  });
});

describe('a node of another chain', () => {
  let other: FaultyNode | undefined;

  afterEach(async () => {
    await other?.close();
    other = undefined;
  });

  /** A node with another chain id, which counts its requests. */
  async function anImpostor(): Promise<FaultyNode> {
    other = await startFaultyNode({ upstream: () => '0x1' });
    return other;
  }

  it('that comes later is asked nothing but its chain id, and somebody is told', async () => {
    const started = await startWithout();
    await addPartner(started, 'Arena');
    await addPrice(started);
    const impostor = await anImpostor();
    await gates[0]?.open(impostor.url);
    const told = () => started.logs.some((line) => line.includes('Alert: rpc-chain-mismatch'));
    await until(started, told);
    expect((await ready(started)).chain).toMatchObject({
      ready: true,
      details: { concerns: expect.stringContaining('1 of 2 endpoints serve another chain') },
    });
    const user = await aPlayer(started);
    expect(errorOf(await user.redeem('Arena', 100))).toMatchObject({ code: 'PAYOUTS_UNAVAILABLE' });

    await gates[1]?.open(started.bench.chain.url);
    await until(started, async () => (await user.redeem('Arena', 100)).status === 201);
    const asked = impostor.requests.flatMap(({ calls }) => calls.map(({ method }) => method));
    expect([...new Set(asked)]).toEqual(['eth_chainId']);
    const { text } = await request(started.url).get('/metrics').expect(200);
    expect(text).toMatch(
      /lowmark_alerts_total\{code="rpc-chain-mismatch",severity="warning",app="redemption"\} 1$/m,
    );
  });

  it('takes the service out of rotation where there is no other', async () => {
    const started = await startWithout({ RPC_URLS: gates[0]?.url ?? '' });
    const chain = await startChain({ deployedSeconds: 1_760_000_000 });
    try {
      await gates[0]?.open(chain.url);
      await until(started, async () => (await ready(started)).status === 503);
      expect((await ready(started)).chain.reason).toMatch(/every endpoint serves another chain/);
    } finally {
      await chain.stop();
    }
  });
});
