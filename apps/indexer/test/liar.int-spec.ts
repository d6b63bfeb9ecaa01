/**
 * One endpoint lies as consistently as it can. Beside another provider's endpoint nothing served changes: the index is
 * right, or not ready and reports the difference. A single endpoint is believed as far as decision 3 says.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type VerificationSetting } from '#libs/chain';
import { type Address } from '#libs/domain';
import { stake } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { type IndexerUnderTest, type IndexerUnderTestOptions } from './harness.js';
import { begunHistory, type HistoryMaker } from './history.js';
import {
  deadChain,
  hexOf,
  inventedInReceipts,
  largerAmount,
  lie,
  moreStaked,
  otherTimes,
} from './lies.js';
import { IndexerSuite, START } from './suite.js';

type Json = Record<string, unknown>;

const DAY = 86_400;
const BLOCKS = 80;
const NO_VIEWS = { totalView: [], balanceView: [] };
const MORE = 5_000n;
const AHEAD = /is dated \d+ \(Unix seconds\), \d+ seconds later than this machine's clock allows/;

const begun = () => begunHistory(23, START, BLOCKS);
const suite = new IndexerSuite(({ player }) => player.play(begun().blocks));

let liar: FaultyNode;
let honest: FaultyNode;
let history: HistoryMaker;

beforeEach(async () => {
  const upstream = suite.chain.rpc.url;
  liar = await startFaultyNode({ upstream });
  // The honest node answers later, so the liar's answer comes first.
  honest = await startFaultyNode({ upstream, fault: { kind: 'delay', ms: 30 } });
  ({ history } = begun());
});

afterEach(async () => {
  await Promise.all([liar, honest].map((node) => node.close()));
});

function start(
  verification: VerificationSetting,
  options: Partial<IndexerUnderTestOptions> = {},
): Promise<IndexerUnderTest> {
  const overrides = { maxRangeBlocks: 12, ...options.overrides };
  const urls = options.urls ?? [liar.url, honest.url];
  return suite.start({ finality: 'depth:40', verification, ...options, urls, overrides });
}

const blockAt = (which: string): Promise<Json> =>
  suite.chain.rpc.call<Json>('eth_getBlockByNumber', which, false);

const allLogs = (): Promise<(Json & { blockNumber: string; topics: string[] })[]> =>
  suite.chain.rpc.call('eth_getLogs', {
    address: suite.chain.contracts.staking,
    fromBlock: '0x0',
    toBlock: 'latest',
  });

/** A log of a final block in the middle of the history, with its block and wallet. */
async function someLog(): Promise<{ log: Json; block: number; wallet: Address }> {
  const logs = await allLogs();
  const log = logs.find(({ blockNumber }) => Number(blockNumber) > 25);
  if (!log) throw new Error('the history has no such event');
  return {
    log,
    block: Number(log.blockNumber),
    wallet: `0x${log.topics[1]?.slice(26) ?? ''}` as Address,
  };
}

async function blockNumbers(): Promise<Map<string, number>> {
  const head = Number(await suite.chain.player.head());
  const blocks = await Promise.all(
    Array.from({ length: head + 1 }, (_, number) => blockAt(hexOf(number))),
  );
  return new Map(blocks.map((block) => [block['hash'] as string, Number(block['number'])]));
}

/** Expects that the index is never called level, and that it reports this trouble. */
async function expectSaid(running: IndexerUnderTest, what: RegExp): Promise<void> {
  await running.until('in trouble', ({ trouble }) => what.test(trouble ?? ''));
  expect(running.status.synced).toBe(false);
  expect(running.status.notReady(Date.now(), 1e12)).toMatch(what);
}

async function expectRight(running: IndexerUnderTest): Promise<void> {
  await running.level();
  await suite.expectIndexed();
  const newest = await blockAt('latest');
  expect(running.status.head?.timestampSeconds).toBe(Number(newest['timestamp']));
}

describe('a chain that ends at an old block, dated into the future', () => {
  beforeEach(async () => {
    const head = await suite.chain.player.head();
    const final = await blockAt(hexOf(head - 60n));
    const last = await blockAt(hexOf(head - 20n));
    liar.fault = deadChain(last, final, Math.floor(Date.now() / 1000) + 400 * DAY);
  });

  it.each(['two', 'none'] as const)('is not believed: %s', async (mode) => {
    const running = await start(mode, {
      ...NO_VIEWS,
      ...(mode === 'none' && { urls: [liar.url] }),
    });
    await expectSaid(running, AHEAD);
  });
});

describe('times', () => {
  it('of new blocks', async () => {
    const head = Number(await suite.chain.player.head());
    liar.fault = otherTimes(
      (block) => block > head - 10,
      (was) => was + DAY,
    );
    const running = await start('auto');
    await expectSaid(running, /dates block \d+ \d+ .* dates it \d+/);
  });

  it.each(['auto', 'none'] as const)('of events: %s', async (mode) => {
    const { block } = await someLog();
    const next = Number((await blockAt(hexOf(block + 1)))['timestamp']);
    expect(next).toBeGreaterThan(Number((await blockAt(hexOf(block)))['timestamp']));
    liar.fault = otherTimes(
      (number) => number === block,
      () => next,
    );
    const running = await start(mode, mode === 'auto' ? {} : NO_VIEWS);
    await expectSaid(running, new RegExp(`block ${block}, or its time, .* at ${next}: `));
  });

  it('of logs that do not tell them, from headers kept of the liar', async () => {
    const { block } = await someLog();
    const next = Number((await blockAt(hexOf(block + 1)))['timestamp']);
    const untimed: Fault = { kind: 'no-log-timestamps' };
    liar.fault = [
      otherTimes(
        (number) => number === block,
        () => next,
      ),
      untimed,
    ];
    honest.fault = [untimed, { kind: 'delay', ms: 200 }];
    const running = await start('two', NO_VIEWS);
    await expectSaid(running, new RegExp(`block ${block}, or its time, .* at ${next}: `));
  });
});

describe('figures of the contract', () => {
  it.each([
    ['the liar first', true],
    ['the liar second', false],
  ])('a balance, and receipts that fit it: %s', async (_case, isFirst) => {
    const { log, block, wallet } = await someLog();
    const numbers = await blockNumbers();
    const contract = suite.chain.contracts.staking;
    liar.fault = [
      moreStaked({ from: block, more: MORE, wallet, numbers, contract }),
      inventedInReceipts(log, MORE),
    ];
    const urls = isFirst ? [liar.url, honest.url] : [honest.url, liar.url];
    if (!isFirst) honest.fault = undefined;
    await expectRight(await start('two', { totalView: [], urls }));
  });

  it('a total, and the amount that fits it once the range is read again', async () => {
    const head = Number(await suite.chain.player.head());
    const block = Number(
      (await allLogs()).filter(({ blockNumber }) => Number(blockNumber) < head - 5).at(-1)
        ?.blockNumber,
    );
    const numbers = await blockNumbers();
    const contract = suite.chain.contracts.staking;
    let looks = 0;
    liar.fault = [
      moreStaked({ from: block, more: MORE, numbers, contract }),
      largerAmount(block, MORE, () => looks++ > 0),
    ];
    await expectRight(await start('two', { balanceView: [] }));
  });

  it.each([
    ['the liar first', true],
    ['the liar second', false],
  ])('an amount, the total and the wallet’s balance: %s', async (_case, isFirst) => {
    const { block, wallet } = await someLog();
    const numbers = await blockNumbers();
    const lies = { from: block, more: MORE, numbers, contract: suite.chain.contracts.staking };
    liar.fault = [largerAmount(block, MORE), moreStaked(lies), moreStaked({ ...lies, wallet })];
    const urls = isFirst ? [liar.url, honest.url] : [honest.url, liar.url];
    if (!isFirst) honest.fault = undefined;
    await expectRight(await start('auto', { urls }));
  });

  it('a history of totals that only one provider has does not choose the mode', async () => {
    honest.fault = {
      kind: 'pruned',
      when: (calls) => calls.some(({ params }) => typeof params[1] === 'object'),
    };
    const running = await start('auto', { balanceView: [] });
    await running.until('told', ({ verification }) => verification !== undefined);
    expect(running.status.verification).toMatchObject({ mode: 'two', comparesPastTotals: false });
  });
});

describe('a block without its bloom, its transactions and its logs', () => {
  it('is not believed where there is another provider', async () => {
    const { block } = await someLog();
    liar.fault = [
      { kind: 'zero-blooms' },
      { kind: 'drop-block-logs', block: BigInt(block), receiptsToo: true },
      lie(({ method }, result) =>
        method === 'eth_getBlockByNumber' && result !== null
          ? { ...(result as Json), transactions: [] }
          : undefined,
      ),
    ];
    const running = await start('none', NO_VIEWS);
    await expectSaid(running, new RegExp(`block ${block}, or its time, .* none`));
  });
});

describe('a newest block that is called final', () => {
  it('is final only when another provider says so', async () => {
    liar.fault = lie(async ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'finalized'
        ? blockAt('latest')
        : undefined,
    );
    const running = await start('two', { ...NO_VIEWS, finality: 'finalized' });
    await expectRight(running);
    for (let round = 0; round < 3; round++) {
      const fork = history.save();
      await suite.chain.player.play(history.blocks(2));
      await running.level();
      history.restore(fork);
      const own = stake(aWallet(0x9000 + round), 1n);
      const first = { seconds: fork.seconds, transactions: [own] };
      await suite.chain.player.reorganise(2, [first, ...history.blocks(2)]);
      await expectRight(running);
    }
    const final = Number((await blockAt('finalized'))['number']);
    expect(Number(running.status.finalised?.number)).toBeLessThanOrEqual(final);
  });
});

describe('one block above finality left out once by the only endpoint', () => {
  it('is found in the mode wallets when it has become final, though its wallet did nothing else', async () => {
    let aheadMs = 0;
    const clock = { nowMs: () => Date.now() + aheadMs };
    const running = await start('wallets', { totalView: [], urls: [liar.url], clock });
    await running.level();
    const { seconds } = history.save();
    liar.fault = [
      { kind: 'zero-blooms' },
      { kind: 'drop-block-logs', block: (await suite.chain.player.head()) + 1n, times: 1 },
    ];
    await suite.chain.player.play([{ seconds, transactions: [stake(aWallet(0x77), 5n)] }]);
    await running.level();
    expect(liar.fault).toHaveLength(1);
    await suite.chain.player.play(history.blocks(45));
    await running.level();
    aheadMs += 61_000;
    await suite.chain.player.play(history.blocks(1));
    await running.until('mended', () =>
      running.log.some(({ msg }) => msg.startsWith('A wallet’s balance is not what')),
    );
    await expectRight(running);
  });
});
