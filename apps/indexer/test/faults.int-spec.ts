/**
 * Faults of the only provider, or of one beside an honest one. More of them are in field.int-spec.ts and
 * verification.int-spec.ts; the faults of a single answer are in libs/chain.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aWallet } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { type IndexerUnderTest, type IndexerUnderTestOptions } from './harness.js';
import { begunHistory, type HistoryMaker } from './history.js';
import { IndexerSuite, START } from './suite.js';

const BLOCKS = 60;

const begun = () => begunHistory(11, START, BLOCKS);
const suite = new IndexerSuite(({ player }) => player.play(begun().blocks));

let node: FaultyNode;
let history: HistoryMaker;

beforeEach(async () => {
  node = await startFaultyNode({ upstream: suite.chain.rpc.url });
  ({ history } = begun());
});

afterEach(async () => {
  await node.close();
});

/** Starts an indexer whose only endpoint is the faulty node. */
function start(options: Partial<IndexerUnderTestOptions> = {}): Promise<IndexerUnderTest> {
  return suite.start({ urls: [node.url], timeoutMs: 1_000, ...options });
}

async function newestSeconds(): Promise<number> {
  const { rpc } = suite.chain;
  const newest = await rpc.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
  return Number(newest.timestamp);
}

/** A block in the middle of the history with several events. */
async function busyBlock(): Promise<bigint> {
  const logs = await suite.chain.rpc.call<{ blockNumber: string }[]>('eth_getLogs', {
    address: suite.chain.contracts.staking,
    fromBlock: '0x0',
    toBlock: 'latest',
  });
  const counts = new Map<string, number>();
  for (const { blockNumber } of logs) counts.set(blockNumber, (counts.get(blockNumber) ?? 0) + 1);
  const busy = [...counts].find(([number, count]) => count >= 3 && Number(number) > 20);
  if (!busy) throw new Error('the history has no busy block');
  return BigInt(busy[0]);
}

describe('a provider that leaves logs out, the only endpoint', () => {
  it('one log of a range: found by the contract’s total, mended from the receipts', async () => {
    node.fault = { kind: 'drop-one-log', block: await busyBlock() };
    const running = await start();
    await running.level();
    await suite.expectIndexed();
    expect(running.log.map(({ msg }) => msg)).toContainEqual(
      expect.stringContaining('An endpoint left out or altered events'),
    );
  });

  it('an altered amount', async () => {
    node.fault = { kind: 'altered-amount', block: await busyBlock() };
    const running = await start();
    await running.level();
    await suite.expectIndexed();
  });

  it('one log, in the receipts too: never ready, says so, and goes on once the provider is mended', async () => {
    node.fault = { kind: 'drop-one-log', block: await busyBlock(), receiptsToo: true };
    const running = await start();
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.synced).toBe(false);
    expect(running.status.notReady(Date.now(), 120)).toMatch(
      /halted: At block \d+ the indexed balances add up to \d+ but the contract's total is \d+/,
    );
    node.fault = undefined;
    await running.level();
    await suite.expectIndexed();
  });

  it('while following: the wrong block is never written', async () => {
    const running = await start();
    await running.level();
    node.fault = { kind: 'drop-one-log' };
    for (let round = 0; round < 4; round++) {
      await suite.chain.player.play(history.blocks(4));
      await running.level();
      await suite.expectIndexed();
    }
  });
});

describe('a provider that leaves logs out, beside an honest one', () => {
  it.each<[string, Fault]>([
    ['one log, in the receipts too', { kind: 'drop-one-log', receiptsToo: true }],
    ['all logs of a block, in the receipts too', { kind: 'drop-block-logs', receiptsToo: true }],
    ['everything', { kind: 'empty-logs' }],
  ])('%s', async (_, fault) => {
    node.fault = fault;
    const running = await start({ urls: [node.url, suite.chain.rpc.url] });
    await running.level();
    await suite.expectIndexed();
  });
});

describe('events that do not show in the sum', () => {
  /** The token as its own staking contract: a transfer moves stake without a change of the total. */
  async function withTransfers(receiptsToo: boolean): Promise<IndexerUnderTest> {
    const { player, contracts } = suite.chain;
    await player.fund([aWallet(0xa), aWallet(0xb), aWallet(0xc)], 500n, await newestSeconds());
    node.fault = { kind: 'drop-one-log', block: await player.head(), receiptsToo };
    return start({
      contracts: [contracts.token],
      events: 'transfer',
      overrides: { firstBlock: 1n },
    });
  }

  it('are found in the wallets and mended before the index is ready', async () => {
    const running = await withTransfers(false);
    await running.level();
    const { changes } = await suite.tables();
    for (const wallet of [aWallet(0xa), aWallet(0xb), aWallet(0xc)])
      expect(changes).toContainEqual(expect.stringMatching(`^${wallet.slice(2)} .* 500$`));
    expect(running.log.map(({ msg }) => msg)).toContainEqual(
      expect.stringContaining('A wallet’s balance is not what the contract says'),
    );
  });

  it('keep the index from being ready where the receipts lack them too', async () => {
    const running = await withTransfers(true);
    await running.until('in trouble', ({ phase }) => phase === 'halted');
    expect(running.status.synced).toBe(false);
    expect(running.status.notReady(Date.now(), 1e12)).toBeDefined();
  });
});

describe('a node that is behind', () => {
  it('is waited for, and nothing is skipped', async () => {
    node.fault = { kind: 'lagging', blocks: 10n };
    const running = await start();
    await running.until(
      'at the lagging head',
      ({ head }) => head?.number === BigInt(BLOCKS + 3 - 10),
    );
    node.fault = undefined;
    await running.level();
    await suite.expectIndexed();
  });

  it('answers for another that was ahead: no event is lost', async () => {
    // One node knows the head, and the logs are asked of another one that does not have it yet.
    node.fault = {
      kind: 'lagging',
      blocks: 10n,
      when: (calls) => calls.some(({ method }) => method === 'eth_getLogs'),
      times: 5,
    };
    const running = await start();
    await running.level();
    await suite.expectIndexed();
  });
});

describe('a node in trouble', () => {
  it.each<[string, Fault]>([
    ['time-outs', { kind: 'never-answers', times: 2 }],
    ['blooms of zero', { kind: 'zero-blooms' }],
    ['no history of state', { kind: 'pruned', when: isOld }],
  ])('%s', async (_, fault) => {
    node.fault = fault;
    const running = await start({ overrides: { maxRangeBlocks: 8 }, finality: 'depth:25' });
    await running.level();
    await suite.expectIndexed();
  });

  it('never reads from an endpoint of another chain', async () => {
    node.fault = { kind: 'chain-id', chainId: 4_242_424 };
    const running = await start({ urls: [suite.chain.rpc.url, node.url] });
    await expect(running.running).rejects.toMatchObject({ retryable: false });
    expect(await suite.tables()).toEqual({ changes: [], days: [], totals: [] });
  });
});

/** Whether this is a request for the state of an old block, while the first half of the history is being read. */
function isOld(calls: readonly { method: string; params: readonly unknown[] }[]): boolean {
  const head = suite.indexer?.status.head;
  return (
    head !== undefined &&
    head.number < BLOCKS / 2 &&
    calls.some(({ method, params }) => method === 'eth_call' && params[1] !== 'latest')
  );
}

describe('a balance below zero', () => {
  it('stops the indexer and names wallet and block; what was indexed stays', async () => {
    const running = await start({
      overrides: { firstBlock: await busyBlock() },
      verification: 'none',
      totalView: [],
      balanceView: [],
    });
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.trouble).toMatch(/Block \d+ takes \d+ from wallet 0x[0-9a-f]{40}/);
    expect(running.status.synced).toBe(false);
  });

  it('is seen even earlier where the contract’s total can be compared', async () => {
    const running = await start({ overrides: { firstBlock: await busyBlock() } });
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.trouble).toMatch(/check STAKE_EVENTS and STAKE_START_BLOCK/);
    expect(await suite.tables()).toEqual({ changes: [], days: [], totals: [] });
  });
});
