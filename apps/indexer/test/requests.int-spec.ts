/**
 * The requests that an indexer really makes: in a sync those of the cost model of libs/chain, in each mode; on a quiet chain
 * one for each new block and endpoint, and none twice.
 */
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { syncCalls, type SyncMethod, type VerificationMode } from '#libs/chain';
import { stake } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { IndexerSuite, START } from './suite.js';

/** Number of blocks with events, each for another wallet. */
const BUSY = 40;
const EMPTY = 24;
const TIP_BLOCKS = 50;
const RANGE_BLOCKS = 100;
const NEW_BLOCKS = 12;
/** Wallets compared once the index is level, in the modes that do not compare all wallets. */
const SAMPLE = 32;

const suite = new IndexerSuite(async ({ player, rpc }) => {
  for (let block = 0; block < BUSY; block++) {
    await player.block(START + 12 + block * 1_200, stake(aWallet(0x100 + block), 5n));
    await rpc.call('anvil_mine', `0x${EMPTY.toString(16)}`, '0xc');
  }
  await rpc.call('anvil_mine', `0x${TIP_BLOCKS.toString(16)}`, '0xc');
});

let nodes: FaultyNode[];

beforeEach(async () => {
  nodes = await Promise.all([1, 2].map(() => startFaultyNode({ upstream: suite.chain.url })));
});
afterEach(() => Promise.all(nodes.map((node) => node.close())));

const MODES: [VerificationMode, { totalView?: []; balanceView?: [] }][] = [
  ['total', {}],
  ['two', { totalView: [], balanceView: [] }],
  ['wallets', { totalView: [] }],
  ['none', { totalView: [], balanceView: [] }],
];

it.each(
  MODES.flatMap(([mode, views]) => [
    { mode, views, logs: 'with times', faults: [] },
    { mode, views, logs: 'without', faults: [{ kind: 'no-log-timestamps' } as const] },
  ]),
)('$mode, logs $logs', async ({ mode, views, faults }) => {
  const { chain } = suite;
  for (const node of nodes) node.fault = faults;
  const endpoints = nodes.slice(0, mode === 'two' ? 2 : 1);
  const indexer = await suite.start({
    urls: endpoints.map(({ url }, index) =>
      index === 0 ? url : url.replace('127.0.0.1', 'localhost'),
    ),
    finality: `depth:${TIP_BLOCKS}`,
    verification: mode,
    ...views,
    overrides: { maxRangeBlocks: RANGE_BLOCKS, pollIntervalMs: 60_000 },
  });
  await indexer.level();
  await indexer.stop();
  const latest = Number(await chain.rpc.call<string>('eth_blockNumber'));
  const blocks = latest - Number(chain.contracts.startBlock) + 1;
  const expected = syncCalls({
    mode,
    finalBlocks: blocks - TIP_BLOCKS,
    tipBlocks: TIP_BLOCKS,
    rangeBlocks: RANGE_BLOCKS,
    finalEventBlocks: BUSY,
    totalCalls: mode === 'total' ? 1 : 0,
    wallets: BUSY,
    hasMulticall: false,
    hasOtherEndpoint: endpoints.length > 1,
  });
  const asked = (method: SyncMethod): number =>
    endpoints.reduce((sum, node) => sum + node.count(method), 0);
  const start = callsOfStart(endpoints.length, latest - TIP_BLOCKS);
  for (const method of ['eth_getLogs', 'eth_getBlockReceipts'] as const) {
    expect([method, asked(method)]).toEqual([method, expected[method] + start[method]]);
  }
  // Requests that do not grow with the history: heads, the search for views, a sample of wallets at two blocks.
  for (const [method, more] of [
    ['eth_getBlockByNumber', 16],
    ['eth_call', 2 * SAMPLE + 8],
  ] as const) {
    const least = expected[method] + start[method];
    expect(asked(method)).toBeGreaterThanOrEqual(least);
    expect(asked(method)).toBeLessThanOrEqual(least + more);
  }
});

/**
 * What a new index asks once: whether each endpoint has the logs of three of the first 32 blocks, whether the chain has
 * a block at each of the newest 129 final heights (of which every second is read), and, of several endpoints, whether
 * each gives a list of logs.
 */
function callsOfStart(endpoints: number, finalBlock: number): Record<SyncMethod, number> {
  return {
    eth_getLogs: 3 * endpoints + (endpoints > 1 ? endpoints : 0),
    eth_getBlockReceipts: 3 * endpoints,
    eth_getBlockByNumber: 32 * endpoints + Math.min(65, Math.floor(finalBlock / 2) + 1),
    eth_call: 0,
  };
}

/**
 * First blocks of the requests at the chain's head. A request that finds nothing new is repeated after the poll
 * interval.
 */
function tips({ requests }: FaultyNode): string[] {
  return requests.flatMap(({ calls }) => {
    const filter = calls[0]?.params[0] as { fromBlock?: string; toBlock?: string } | undefined;
    return filter?.toBlock === 'latest' ? [filter.fromBlock ?? ''] : [];
  });
}

const TWO_VOUCH = { verification: 'two', totalView: [], balanceView: [] } as const;

it.each([
  ['the only endpoint', 1, {}, [0, 0]],
  ['each of two, where the total vouches', 2, {}, [NEW_BLOCKS, NEW_BLOCKS]],
  ['each of two, where both vouch', 2, TWO_VOUCH, [0, NEW_BLOCKS]],
] as const)(
  'following a quiet chain costs one request a block of %s',
  async (_case, endpoints, options, [least, most]) => {
    const urls = nodes.slice(0, endpoints).map(({ url }) => url);
    const running = await suite.start({ urls, ...options });
    await running.level();
    for (const node of nodes) node.requests.length = 0;
    for (let block = 0; block < NEW_BLOCKS; block++) {
      await suite.chain.rpc.call('evm_mine');
      await running.level();
    }
    const asked = nodes.flatMap(tips);
    expect(new Set(asked).size).toBeLessThanOrEqual(NEW_BLOCKS + 1);
    // Comparisons of each new block with another provider.
    const others = nodes.flatMap(({ requests }) => requests).length - asked.length;
    expect(others).toBeGreaterThanOrEqual(least);
    expect(others).toBeLessThanOrEqual(most);
    await suite.expectIndexed();
  },
);
