/** The cost of following a quiet chain: one request for each new block and endpoint, and no request twice. */
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { HistoryMaker, randomOf } from './history.js';
import { IndexerSuite, START } from './suite.js';

const NEW_BLOCKS = 12;

const suite = new IndexerSuite();
let nodes: FaultyNode[];
let history: HistoryMaker;

beforeEach(async () => {
  nodes = await Promise.all([1, 2].map(() => startFaultyNode({ upstream: suite.chain.rpc.url })));
  history = new HistoryMaker(randomOf(5), START);
  await suite.chain.player.play(history.blocks(20));
});

afterEach(async () => {
  await Promise.all(nodes.map((node) => node.close()));
});

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
