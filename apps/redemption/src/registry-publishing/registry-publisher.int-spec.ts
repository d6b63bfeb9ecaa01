/** Publishing on a real chain: in order and once per day, despite reorganisations and changing gas prices. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import {
  ALICE,
  BOB,
  FINALITY_DEPTH,
  type PublisherUnderTest,
  RegistryStage,
  rootOf,
  TODAY,
  treeOf,
} from './registry-stage.support.js';

const GWEI = 10n ** 9n;
const hex = (value: bigint): string => `0x${value.toString(16)}`;
const FIRST = TODAY - 10;
const ANN = { actor: 'operator:ann', command: 'registry acknowledge', arguments: {} };

let stage: RegistryStage;
const nodes: FaultyNode[] = [];
beforeEach(async () => {
  stage = await RegistryStage.start();
});
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
  await stage.stop();
});

/** A publisher behind a node whose faults the test sets. */
async function behind(overrides: Record<string, string> = {}) {
  const node = await startFaultyNode({ upstream: stage.chain.url });
  nodes.push(node);
  const one = await stage.publisher({ RPC_URLS: node.url, ...overrides });
  return { node, ...one };
}

async function finish(one: PublisherUnderTest): Promise<void> {
  await stage.registry.mine(FINALITY_DEPTH + 1);
  await one.publisher.look();
}

describe('sealed days', () => {
  it('are published in order, once each, and are final in the end', async () => {
    for (const day of [0, 1, 2, 3]) await stage.seal(FIRST + day);
    const one = await stage.publisher();
    await stage.round(one, 5);
    expect(await stage.registry.published()).toEqual([FIRST, FIRST + 1, FIRST + 2, FIRST + 3]);
    expect(await stage.registry.rootOf(FIRST + 2)).toBe(rootOf(FIRST + 2));
    await finish(one);
    expect(await stage.statuses(one)).toEqual(['final', 'final', 'final', 'final']);
    expect(await stage.registry.transactions()).toBe(4);
    expect(one.alerts).toEqual([]);
    expect(await one.views.summary()).toMatchObject({ waiting: 0, final: 4, lastDay: FIRST + 3 });
  });

  it('can be verified against on chain with a proof of the service', async () => {
    const tree = await treeOf([ALICE, 1_000n], [BOB, 5n]);
    await stage.seal(FIRST, tree.root);
    await stage.round(await stage.publisher());
    expect(await stage.registry.verify(FIRST, tree.prove(ALICE))).toBe(true);
    const { leaf, proof } = tree.prove(BOB);
    expect(await stage.registry.verify(FIRST, { leaf: { ...leaf, low: 6n }, proof })).toBe(false);
    expect(await stage.registry.verify(FIRST + 1, tree.prove(ALICE))).toBe(false);
  });

  it('of before REGISTRY_FIRST_DAY are left out, as is what follows a gap', async () => {
    for (const day of [-1, 0, 2]) await stage.seal(FIRST + day);
    const first = new Date(FIRST * 86_400_000).toISOString().slice(0, 10);
    const one = await stage.publisher({ REGISTRY_FIRST_DAY: first });
    await one.publisher.look();
    expect((await one.views.page(10)).map(({ day }) => day)).toEqual([FIRST]);
  });

  it('wait for `registryDelaySeconds`, and while they are worked out again', async () => {
    const justNow = stage.clock.nowMs();
    await stage.seal(FIRST, rootOf(FIRST), justNow);
    const one = await stage.publisher();
    await stage.round(one);
    expect(await stage.registry.published()).toEqual([]);
    stage.clock.advance(3_600_000);
    const database = await stage.open();
    await database.query({ text: `INSERT INTO staking.seal_recheck (from_day) VALUES (${FIRST})` });
    await stage.round(one);
    expect(await stage.registry.published()).toEqual([]);
    await database.query({ text: 'DELETE FROM staking.seal_recheck' });
    await stage.round(one);
    expect(await stage.registry.published()).toEqual([FIRST]);
  });
});

describe('a price of gas', () => {
  it('at which one transaction costs too much is waited for, and publishing goes on when it falls', async () => {
    await stage.seal(FIRST);
    const { node, ...one } = await behind({ GAS_DAILY_COIN: '0.01' });
    node.fault = { kind: 'result', method: 'eth_gasPrice', result: hex(101n * GWEI) };
    await stage.round(one, 3);
    expect(one.alerts).toEqual(['registry-gas-refused']);
    expect(node.count('eth_sendRawTransaction')).toBe(0);
    expect(await stage.statuses(one)).toEqual(['due']);
    node.fault = undefined;
    await stage.round(one);
    expect(await stage.registry.published()).toEqual([FIRST]);
  });

  it('beyond the coin of the day is waited for until the next', async () => {
    await stage.seal(FIRST);
    await stage.seal(FIRST + 1);
    await stage.seal(FIRST + 2);
    // At 1.5 gwei and some 60,000 gas, a publication costs 0.00009 of the coin.
    const { node, ...one } = await behind({ GAS_DAILY_COIN: '0.00025' });
    node.fault = { kind: 'result', method: 'eth_gasPrice', result: hex(GWEI) };
    await stage.round(one, 4);
    expect(await stage.registry.published()).toEqual([FIRST, FIRST + 1]);
    expect(one.alerts).toEqual(['registry-gas-refused']);
    stage.clock.advance(86_400_000);
    await stage.round(one);
    expect(await stage.registry.published()).toEqual([FIRST, FIRST + 1, FIRST + 2]);
  });

  it('that was too low is raised under the same nonce, within the limit', async () => {
    await stage.seal(FIRST);
    // Allows a transaction of some 60,000 gas a little less than 5 gwei.
    const { node, ...one } = await behind({ GAS_DAILY_COIN: '0.0006' });
    node.fault = { kind: 'result', method: 'eth_gasPrice', result: hex(2n * GWEI) };
    const prices: bigint[] = [];
    for (let look = 0; look < 4; look++) {
      await one.publisher.look();
      const waiting = await stage.registry.waiting();
      expect(waiting.map(({ nonce }) => nonce)).toEqual([0]);
      prices.push(...waiting.map(({ gasPrice }) => gasPrice));
      stage.clock.advance(301_000);
    }
    // Half as much again; after that the limit leaves no room for a price that nodes accept.
    expect(prices).toEqual([3n * GWEI, (9n * GWEI) / 2n, (9n * GWEI) / 2n, (9n * GWEI) / 2n]);
    expect(one.alerts).toEqual(['registry-transaction-stuck']);
    await stage.registry.mine();
    await finish(one);
    expect(await stage.statuses(one)).toEqual(['final']);
    expect(await stage.registry.transactions()).toBe(1);
  });
});

describe('an amount of gas', () => {
  it('that is false is corrected by the replacement', async () => {
    await stage.seal(FIRST);
    const { node, ...one } = await behind();
    node.fault = { kind: 'result', method: 'eth_estimateGas', result: hex(8_000_000n) };
    await one.publisher.look();
    expect(await stage.registry.waiting()).toMatchObject([{ nonce: 0, gas: 10_000_000n }]);
    node.fault = undefined;
    stage.clock.advance(301_000);
    await one.publisher.look();
    const [transaction] = await stage.registry.waiting();
    expect(transaction?.nonce).toBe(0);
    expect(transaction?.gas).toBeLessThan(100_000n);
    await stage.registry.mine();
    await finish(one);
    expect(await stage.statuses(one)).toEqual(['final']);
  });
});

describe('a reorganisation', () => {
  it('that removes the transaction has it sent again, the same one', async () => {
    await stage.seal(FIRST);
    const one = await stage.publisher();
    await stage.round(one);
    await one.publisher.look();
    expect(await stage.statuses(one)).toEqual(['mined']);
    const [before] = await one.views.page(1);
    await stage.registry.rollback(1);
    expect(await stage.registry.published()).toEqual([]);
    await one.publisher.look();
    expect(await stage.statuses(one)).toEqual(['sent']);
    await stage.registry.mine();
    await finish(one);
    const [after] = await one.views.page(1);
    expect(after).toMatchObject({ status: 'final', transaction: before?.transaction });
    expect(await stage.registry.published()).toEqual([FIRST]);
  });
});

describe('a registry', () => {
  it('that holds another root of a day is an alert and no attempt; other days go on', async () => {
    await stage.seal(FIRST);
    await stage.seal(FIRST + 1);
    await stage.registry.publish(FIRST, rootOf(FIRST, 9));
    await stage.registry.mine(FINALITY_DEPTH);
    const one = await stage.publisher();
    await stage.round(one, 2);
    await finish(one);
    expect(await stage.statuses(one)).toEqual(['refused', 'final']);
    expect(one.alerts).toEqual(['registry-root-differs']);
    expect(await one.views.summary()).toMatchObject({ different: 1 });
    // The service's own transaction, and the one sent by hand.
    expect(await stage.registry.transactions()).toBe(2);
    const note = { ...ANN, day: FIRST, note: 'by hand', nowMs: 1 };
    expect(await one.views.acknowledge(note)).toBe(true);
    expect(await one.views.acknowledge(note)).toBe(false);
    expect(await one.views.summary()).toMatchObject({ different: 0 });
  });

  it('that holds the root already gets no transaction', async () => {
    await stage.seal(FIRST);
    await stage.registry.publish(FIRST, rootOf(FIRST));
    const one = await stage.publisher();
    await one.publisher.look();
    expect(await stage.statuses(one)).toEqual(['mined']);
    await finish(one);
    expect(await stage.statuses(one)).toEqual(['final']);
    expect(await stage.registry.transactions()).toBe(1);
  });
});

describe('a day that comes out differently', () => {
  it('before its root is on chain is published as it is now, under the same nonce', async () => {
    await stage.seal(FIRST);
    const one = await stage.publisher();
    await one.publisher.look();
    await stage.seal(FIRST, rootOf(FIRST, 2));
    await one.publisher.look();
    expect((await stage.registry.waiting()).map(({ nonce }) => nonce)).toEqual([0]);
    await stage.registry.mine();
    await finish(one);
    expect(await stage.registry.rootOf(FIRST)).toBe(rootOf(FIRST, 2));
    expect(await stage.registry.transactions()).toBe(1);
    expect(one.alerts).toEqual([]);
  });

  it('afterwards is an alert until a person has acknowledged it', async () => {
    await stage.seal(FIRST);
    const one = await stage.publisher();
    await stage.round(one);
    await finish(one);
    await stage.seal(FIRST, rootOf(FIRST, 2));
    await one.publisher.look();
    expect(one.alerts).toEqual(['registry-day-revised']);
    expect(await one.views.summary()).toMatchObject({ final: 1, revised: 1 });
    const nowMs = stage.clock.nowMs();
    await one.views.acknowledge({ ...ANN, day: FIRST, note: 'known', nowMs });
    expect(await one.views.summary()).toMatchObject({ revised: 0 });
    await stage.seal(FIRST, rootOf(FIRST, 3), nowMs + 1);
    expect(await one.views.summary()).toMatchObject({ revised: 1 });
  });
});
