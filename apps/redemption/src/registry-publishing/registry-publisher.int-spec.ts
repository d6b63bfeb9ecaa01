/**
 * Publishing on a real chain: in order and once per day, despite reorganisations, changing gas prices, wrong keys and
 * registries, several processes, and nodes that give false answers.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { IndexStore, migrate } from '#libs/db';
import { type TestChain } from '#libs/testing/chain';
import { anInitialIndex, aWallet } from '#libs/testing/database';
import { TestRegistry } from '#libs/testing/registry';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import {
  FINALITY_DEPTH,
  OTHER_KEY,
  type PublisherUnderTest,
  RegistryStage,
  rootOf,
  TODAY,
  PUBLISHER_KEY,
} from './registry-stage.support.js';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { readSettings } from '#libs/config';
import { createLogger } from '#libs/service';
import { eventually } from '#libs/testing/clock';
import { createRedemption } from '../create-redemption.js';
import { RedemptionSettings } from '../redemption.env.js';

const GWEI = 10n ** 9n;
const hex = (value: bigint): string => `0x${value.toString(16)}`;
const FIRST = TODAY - 10;
const NOTHING = `0x${'0'.repeat(64)}`;
const ANN = { actor: 'operator:ann', command: 'registry acknowledge', arguments: {} };

/** A node that takes no transaction. */
const DROPPING: Fault = {
  kind: 'reset',
  when: (calls) => calls.some(({ method }) => method === 'eth_sendRawTransaction'),
};

let chain: TestChain;
let stage: RegistryStage;
const nodes: FaultyNode[] = [];
beforeAll(async () => {
  chain = await RegistryStage.startChain();
});
beforeEach(async () => {
  stage = await RegistryStage.on(chain);
});
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
  await stage.leave();
});
afterAll(() => chain.stop());

async function aNode(fault?: Fault): Promise<FaultyNode> {
  const node = await startFaultyNode({
    upstream: chain.url,
    ...(fault !== undefined && { fault }),
  });
  nodes.push(node);
  return node;
}

/** A publisher behind a node whose faults the test sets. */
async function behind(overrides: Record<string, string> = {}) {
  const node = await aNode();
  const one = await stage.publisher({ RPC_URLS: node.url, ...overrides });
  return { node, ...one };
}

async function finish(one: PublisherUnderTest): Promise<void> {
  await stage.registry.mine(FINALITY_DEPTH + 1);
  await one.publisher.look();
}

async function expectPublishedOnce(one: PublisherUnderTest): Promise<void> {
  await finish(one);
  expect(await stage.statuses(one)).toEqual(['final']);
  expect(await stage.registry.published()).toEqual([FIRST]);
  expect(await stage.registry.transactions()).toBe(1);
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

describe('with one sealed day', () => {
  beforeEach(() => stage.seal(FIRST));

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
      const token = chain.contracts.token;
      const other = await stage.publisher({ REGISTRY_ADDRESS: token });
      await expect(other.publisher.look()).rejects.toMatchObject({ retryable: false });
      const nothing = await stage.publisher({ REGISTRY_ADDRESS: `0x${'9'.repeat(40)}` });
      await expect(nothing.publisher.look()).rejects.toMatchObject({ code: 'REGISTRY_NOT_THERE' });
      expect(await stage.registry.waiting()).toEqual([]);
    });

    it('for the registry of another stake set', async () => {
      const other = await RegistryStage.on(chain, `eip155:1:0x${'1'.repeat(40)}`);
      try {
        await other.seal(FIRST);
        const { publisher } = await other.publisher();
        await expect(publisher.look()).rejects.toMatchObject({
          ...refused,
          message: expect.stringMatching(/is of the contracts eip155:1:0x1{40}, and the stake set/),
        });
        expect(await other.registry.waiting()).toEqual([]);
      } finally {
        await other.leave();
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
      const dropping = await aNode(DROPPING);
      const one = await stage.publisher({ RPC_URLS: dropping.url });
      await expect(one.publisher.look()).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
      });
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
    it('that names a far nonce has nothing signed', async () => {
      const far = { kind: 'result', method: 'eth_getTransactionCount', result: '0xffff' } as const;
      const liar = await aNode({ ...far, only: ({ params }) => params[1] === 'latest' });
      const one = await stage.publisher({ RPC_URLS: `${liar.url},${chain.url}` });
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
      const one = await stage.publisher({ RPC_URLS: `${liar.url},${chain.url}` });
      await expect(one.publisher.look()).rejects.toMatchObject({ code: 'RPC_ENDPOINTS_DISAGREE' });
      expect(one.alerts).toEqual(['endpoints-disagree']);
      expect(await stage.statuses(one)).toEqual(['sent']);
      liar.fault = undefined;
      await expectPublishedOnce(one);
    });

    it('that makes the newest block up delays a day, which waits on and is published', async () => {
      const made = { kind: 'result', method: 'eth_call', result: rootOf(FIRST) } as const;
      const liar = await aNode({ ...made, only: ({ params }) => params[1] === 'latest' });
      const one = await stage.publisher({ RPC_URLS: `${liar.url},${chain.url}` });
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
      const one = await stage.publisher({ RPC_URLS: `${chain.url},${dead}` });
      await expect(one.publisher.look()).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
      });
      expect(await stage.registry.waiting()).toEqual([]);
    });
  });
});

describe('the whole service', () => {
  let app: NestFastifyApplication | undefined;
  const logs: string[] = [];
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  async function start(changes: Record<string, string>): Promise<void> {
    const source = { ...stage.environment(), ...changes };
    const destination = { write: (line: string) => void logs.push(line) };
    const logger = createLogger({ app: 'redemption', level: 'trace', destination });
    const settings = readSettings(RedemptionSettings, source);
    app = await createRedemption({ settings, logger, clock: stage.clock });
    await app.listen(0, '127.0.0.1');
  }

  const metrics = async (): Promise<string> =>
    (await fetch(`${(await app?.getUrl()) ?? ''}/metrics`)).text();

  it('publishes each stake set in a registry of its own, measures it, tells no key, and ends', async () => {
    const GOLF = aWallet(0x601f);
    const { registry } = stage;
    await stage.seal(FIRST);
    await migrate(stage.database.url, { stakeSets: ['golf'] });
    const golf = await TestRegistry.deploy(chain, registry.publisher, {
      seconds: registry.newestSeconds + 12,
      stakedIn: `eip155:1:${GOLF}`,
    });
    const rows = (await stage.open()).inSet('golf');
    await new IndexStore(rows).create(anInitialIndex({ chainId: 1, stakeContract: GOLF }));
    await stage.seal(FIRST, rootOf(FIRST, 3), undefined, rows);
    await start({ REGISTRY_ADDRESS: `default=${registry.address},golf=${golf.address}` });
    const published = /lowmark_registry_publications\{[^}]*state="final"[^}]*\} 1\n/g;
    await eventually(async () => {
      await registry.mine();
      return (await metrics()).match(published)?.length === 2;
    });
    expect([await registry.published(), await golf.published()]).toEqual([[FIRST], [FIRST]]);
    expect(await registry.rootOf(FIRST)).toBe(rootOf(FIRST));
    expect(await golf.rootOf(FIRST)).toBe(rootOf(FIRST, 3));
    expect(await registry.transactions()).toBe(2);
    const text = await metrics();
    expect(text).toMatch(/lowmark_registry_publications\{[^}]*stake_set="default"[^}]*\} 0\n/);
    expect(text).toMatch(/lowmark_registry_waiting_seconds\{[^}]*\} 0\n/);
    expect(text).toMatch(/lowmark_registry_coin(?:\{[^}]*\})? (?:9999|10000)/);
    await app?.close();
    app = undefined;
    expect(logs.join('\n')).not.toContain(PUBLISHER_KEY);
    expect(logs.join('\n')).toMatch(/"msg":"Published"/);
  });

  it('without a registry has none of it', async () => {
    await start({ REGISTRY_ADDRESS: '', REGISTRY_PRIVATE_KEY: '', REGISTRY_FIRST_DAY: '' });
    expect(await metrics()).not.toContain('lowmark_registry');
  });
});
