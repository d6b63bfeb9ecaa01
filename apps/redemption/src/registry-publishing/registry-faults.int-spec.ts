/** Publishing with wrong keys, wrong registries, several processes, and nodes that give false answers. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import {
  FINALITY_DEPTH,
  OTHER_KEY,
  type PublisherUnderTest,
  RegistryStage,
  rootOf,
  TODAY,
} from './registry-stage.support.js';

const FIRST = TODAY - 10;
const NOTHING = `0x${'0'.repeat(64)}`;

let stage: RegistryStage;
const nodes: FaultyNode[] = [];
beforeEach(async () => {
  stage = await RegistryStage.start();
  await stage.seal(FIRST);
});
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
  await stage.stop();
});

async function aNode(fault?: Fault | Fault[]): Promise<FaultyNode> {
  const node = await startFaultyNode({
    upstream: stage.chain.url,
    ...(fault !== undefined && { fault }),
  });
  nodes.push(node);
  return node;
}

async function expectPublishedOnce(one: PublisherUnderTest): Promise<void> {
  await stage.registry.mine(FINALITY_DEPTH + 1);
  await one.publisher.look();
  expect(await stage.statuses(one)).toEqual(['final']);
  expect(await stage.registry.published()).toEqual([FIRST]);
  expect(await stage.registry.transactions()).toBe(1);
}

describe('nothing is signed', () => {
  const refused = { code: 'REGISTRY_MISCONFIGURED', retryable: false };
  const expectNothing = async (one: PublisherUnderTest, message: RegExp): Promise<void> => {
    const expected = { ...refused, message: expect.stringMatching(message) };
    await expect(one.publisher.look()).rejects.toMatchObject(expected);
    expect(await stage.statuses(one)).toEqual(['due']);
    expect(await stage.registry.waiting()).toEqual([]);
  };

  it('by a key without the role', async () => {
    const one = await stage.publisher({ REGISTRY_PRIVATE_KEY: OTHER_KEY });
    await expectNothing(one, /address 0x[0-9a-f]{40} does not hold PUBLISHER_ROLE.*grant it/);
  });

  it('by a key whose role was revoked, and what is signed by the one that follows it counts', async () => {
    await stage.seal(FIRST + 1);
    const one = await stage.publisher();
    await stage.round(one);
    await stage.registry.revokePublisher();
    await expect(one.publisher.look()).rejects.toMatchObject(refused);
    expect(await stage.statuses(one)).toEqual(['mined', 'due']);
  });

  it('for an address that is no registry', async () => {
    const token = stage.chain.contracts.token;
    const other = await stage.publisher({ REGISTRY_ADDRESS: token });
    await expect(other.publisher.look()).rejects.toMatchObject({ retryable: false });
    const nothing = await stage.publisher({ REGISTRY_ADDRESS: `0x${'9'.repeat(40)}` });
    await expect(nothing.publisher.look()).rejects.toMatchObject({ code: 'REGISTRY_NOT_THERE' });
    expect(await stage.registry.waiting()).toEqual([]);
  });

  it('for the registry of another stake set', async () => {
    const other = await RegistryStage.start('eip155:1:0x1111111111111111111111111111111111111111');
    try {
      await other.seal(FIRST);
      const { publisher } = await other.publisher();
      await expect(publisher.look()).rejects.toMatchObject({
        ...refused,
        message: expect.stringMatching(/is of the contracts eip155:1:0x1{40}, and the stake set/),
      });
      expect(await other.registry.waiting()).toEqual([]);
    } finally {
      await other.stop();
    }
  });
});

describe('two processes', () => {
  it('publish once, one of them at a time', async () => {
    const one = await stage.publisher();
    const other = await stage.publisher();
    const looks = await Promise.all([one.publisher.look(), other.publisher.look()]);
    expect(looks).toContain(true);
    await stage.registry.mine();
    await Promise.all([one.publisher.look(), other.publisher.look()]);
    await expectPublishedOnce(one);
  });

  it('that both believe to be alone sign under one nonce, and only what is stored is sent', async () => {
    const one = await stage.publisher();
    await one.publisher.look();
    const [publication] = await one.views.page(1);
    const { sender, transaction } = publication ?? {};
    if (!publication || !sender || !transaction) throw new Error('nothing was signed');
    const again = { ...publication, ...sender, ...transaction, nowMs: stage.clock.nowMs() };
    expect(await one.store.sign({ ...again, nonce: sender.nonce + 1 })).toBe(false);
    expect(await one.store.sign({ ...again, root: rootOf(FIRST, 5) })).toBe(false);
    await stage.registry.mine();
    await expectPublishedOnce(one);
  });
});

describe('a nonce', () => {
  it('that the key used elsewhere is given up once that is final', async () => {
    const dropping = await aNode({ kind: 'reset', when: (calls) => calls.some(isSending) });
    const one = await stage.publisher({ RPC_URLS: dropping.url });
    await expect(one.publisher.look()).rejects.toMatchObject({ code: 'RPC_ALL_ENDPOINTS_FAILED' });
    expect(await stage.statuses(one)).toEqual(['sent']);
    await stage.registry.publish(TODAY - 50, rootOf(1));
    dropping.fault = undefined;
    stage.clock.advance(60_000);
    await one.publisher.look();
    expect(await stage.statuses(one)).toEqual(['sent']);
    await stage.registry.mine(FINALITY_DEPTH);
    await one.publisher.look();
    expect(await stage.statuses(one)).toEqual(['due']);
    await stage.round(one);
    expect(await stage.registry.published()).toEqual([TODAY - 50, FIRST]);
  });
});

describe('a node', () => {
  it('that keeps transactions back does not keep them from the other one', async () => {
    const silent = await aNode({ kind: 'reset', when: (calls) => calls.some(isSending) });
    const one = await stage.publisher({ RPC_URLS: `${silent.url},${stage.chain.url}` });
    await stage.round(one);
    await expectPublishedOnce(one);
  });

  it('that names a far nonce has nothing signed', async () => {
    const far = { kind: 'result', method: 'eth_getTransactionCount', result: '0xffff' } as const;
    const liar = await aNode({ ...far, only: ({ params }) => params[1] === 'latest' });
    const one = await stage.publisher({ RPC_URLS: `${liar.url},${stage.chain.url}` });
    await one.publisher.look();
    expect(await stage.statuses(one)).toEqual(['due']);
    liar.fault = undefined;
    await stage.round(one);
    await expectPublishedOnce(one);
  });

  it.each([
    ['nothing', NOTHING],
    ['another root', rootOf(FIRST, 7)],
  ])('that sees %s in a final block is not believed, and an alert tells', async (_, result) => {
    const honest = await stage.publisher();
    await stage.round(honest);
    await stage.registry.mine(FINALITY_DEPTH);
    const liar = await aNode({ kind: 'result', method: 'eth_call', result });
    const one = await stage.publisher({ RPC_URLS: `${liar.url},${stage.chain.url}` });
    await expect(one.publisher.look()).rejects.toMatchObject({ code: 'RPC_ENDPOINTS_DISAGREE' });
    expect(one.alerts).toEqual(['endpoints-disagree']);
    expect(await stage.statuses(one)).toEqual(['sent']);
    liar.fault = undefined;
    await expectPublishedOnce(one);
  });

  it('that makes the newest block up delays a day, which waits on and is published', async () => {
    const made = { kind: 'result', method: 'eth_call', result: rootOf(FIRST) } as const;
    const liar = await aNode({ ...made, only: ({ params }) => params[1] === 'latest' });
    const one = await stage.publisher({ RPC_URLS: `${liar.url},${stage.chain.url}` });
    await one.publisher.look();
    expect(await stage.statuses(one)).toEqual(['mined']);
    expect(await stage.registry.waiting()).toEqual([]);
    const waitingSince = new Date(stage.clock.nowMs());
    expect(await one.views.summary()).toMatchObject({ final: 0, waitingSince });
    liar.fault = undefined;
    await stage.round(one, 2);
    await expectPublishedOnce(one);
  });

  it('alone of two is not enough', async () => {
    const dead = 'http://127.0.0.1:9/';
    const one = await stage.publisher({ RPC_URLS: `${stage.chain.url},${dead}` });
    await expect(one.publisher.look()).rejects.toMatchObject({ code: 'RPC_ALL_ENDPOINTS_FAILED' });
    expect(await stage.registry.waiting()).toEqual([]);
  });
});

function isSending({ method }: { readonly method: string }): boolean {
  return method === 'eth_sendRawTransaction';
}
