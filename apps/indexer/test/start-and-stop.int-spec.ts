/**
 * The indexer's start with endpoints that do not answer: it reports what it waits for, continues without them, and
 * stops at once when asked.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { HistoryMaker, randomOf } from './history.js';
import { IndexerSuite, START } from './suite.js';

/** A deadline that no endpoint exceeds within a test. */
const NEVER_MS = 600_000;

const suite = new IndexerSuite();
let silent: FaultyNode;

beforeEach(async () => {
  await suite.chain.player.play(new HistoryMaker(randomOf(11), START).blocks(30));
  silent = await startFaultyNode({
    upstream: suite.chain.rpc.url,
    fault: { kind: 'never-answers' },
  });
});

afterEach(() => silent.close());

const said = (): string[] => (suite.indexer?.log ?? []).map(({ msg }) => msg);

describe('a silent endpoint', () => {
  it('is said, and not waited for once the process is to stop', async () => {
    const indexer = await suite.start({ urls: [silent.url], timeoutMs: NEVER_MS });
    await indexer.until('asking', () => silent.requests.length > 0);
    expect(indexer.status.notReady(0, 0)).toBe(
      'starting: asking the endpoints which chain they serve',
    );
    expect(said()).toContain('Starting: asking the endpoints which chain they serve');
    await indexer.stop();
    expect(said()).not.toContain('Trying again');
  });

  it('is not waited for in the middle of a sync either', async () => {
    silent.fault = undefined;
    const indexer = await suite.start({ urls: [silent.url], timeoutMs: NEVER_MS });
    await indexer.level();
    silent.fault = { kind: 'never-answers' };
    const asked = silent.requests.length;
    await indexer.until('asking', () => silent.requests.length > asked);
    await indexer.stop();
  });

  it('first in the list does not hold up another', async () => {
    const indexer = await suite.start({
      urls: [silent.url, suite.chain.rpc.url],
      timeoutMs: NEVER_MS,
    });
    await indexer.until('past the chain ids', () =>
      said().includes('Starting: looking for the contracts'),
    );
  });

  it('beside one that has no old state: there is no past total, and the index is made', async () => {
    const { rpc, contracts } = suite.chain;
    const before = `0x${(contracts.startBlock - 1n).toString(16)}`;
    const { hash } = await rpc.call<{ hash: string }>('eth_getBlockByNumber', before, false);
    const young = await startFaultyNode({
      upstream: suite.chain.rpc.url,
      fault: {
        kind: 'error',
        method: 'eth_call',
        code: -32000,
        message: 'missing trie node 00 (path ) state is not available',
        only: (call) => JSON.stringify(call).includes(hash),
      },
    });
    const indexer = await suite.start({ urls: [silent.url, young.url], timeoutMs: 500 });
    await indexer.until('started', ({ verification }) => verification !== undefined);
    expect(indexer.status.verification?.comparesPastTotals).toBe(false);
    await indexer.stop();
    await young.close();
  });
});
