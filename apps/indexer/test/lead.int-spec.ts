/**
 * Starts with endpoints that do not answer, turns that hang, long rollbacks, and failures of several kinds under one lead.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database } from '#libs/db';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { begunHistory } from './history.js';
import { type IndexerUnderTest } from './harness.js';
import { IndexerSuite, START } from './suite.js';

const STALL_MS = 300;
const ROLLBACK_STALL_MS = 800;
const STALLED = 'Nothing moved for too long: starting the loop afresh';

const begun = () => begunHistory(17, START, 40);
const suite = new IndexerSuite(({ player }) => player.play(begun().blocks));

const count = ({ log }: IndexerUnderTest, text: string): number =>
  log.filter(({ msg }) => msg === text).length;

/** Keeps a table locked while `work` runs. */
async function whileLocked(table: string, mode: string, work: () => Promise<void>): Promise<void> {
  const database: Database = await suite.database.open();
  await database.transaction(async (client) => {
    await client.query(`LOCK TABLE staking.${table} IN ${mode} MODE`);
    await work();
  });
}

it('writes nothing through a turn that was abandoned', async () => {
  const { history } = begun();
  const running = await suite.start({ overrides: { stallAfterMs: STALL_MS, cachedWallets: 1 } });
  await running.level();
  // Each turn hangs in the read of its wallets' states, until several were abandoned.
  await whileLocked('balance_day', 'ACCESS EXCLUSIVE', async () => {
    await suite.chain.player.play(history.blocks(9));
    await running.until('abandoned', () => count(running, STALLED) >= 3);
  });
  await running.level();
  await suite.chain.player.play(history.blocks(9));
  await running.level();
  await suite.expectIndexed();
  expect(count(running, 'Trying again')).toBe(0);
});

it('gives a rollback the time that it needs', async () => {
  const { history } = begun();
  const fork = history.save();
  await suite.chain.player.play(history.blocks(9));
  const running = await suite.start({ overrides: { stallAfterMs: ROLLBACK_STALL_MS } });
  await running.level();
  history.restore(fork);
  // A rollback removes remembered blocks, and waits for the lock.
  await whileLocked('block', 'SHARE', async () => {
    await suite.chain.player.reorganise(9, history.blocks(12));
    await running.until('rolling back', ({ longWork }) => longWork !== undefined);
    // On a busy machine a turn before or after the rollback may stall by itself.
    const stalledBefore = count(running, STALLED);
    await new Promise((resolve) => setTimeout(resolve, 3 * ROLLBACK_STALL_MS));
    expect(count(running, STALLED)).toBe(stalledBefore);
  });
  await running.level();
  await suite.expectIndexed();
  expect(count(running, 'Rolled back')).toBe(1);
  expect(running.status.longWork).toBeUndefined();
});

it('halts over a finding only when it was made three times, whatever failed before', async () => {
  const { history } = begun();
  const fork = history.save();
  await suite.chain.player.play(history.blocks(12));
  const node = await startFaultyNode({ upstream: suite.chain.rpc.url });
  const running = await suite.start({ urls: [node.url], finality: 'depth:5', timeoutMs: 200 });
  await running.level();
  node.fault = { kind: 'never-answers' };
  await running.until('failing', () => count(running, 'Trying again') >= 2);
  const failures = count(running, 'Trying again');
  history.restore(fork);
  await suite.chain.player.reorganise(12, history.blocks(13));
  node.fault = undefined;
  await running.until('halted', ({ phase }) => phase === 'halted');
  const codes = running.log
    .filter(({ msg }) => msg === 'Trying again')
    .map(({ err }) => (err as { code?: string }).code);
  expect(codes.slice(failures).filter((code) => code === 'DEEP_REORGANISATION')).toHaveLength(2);
  await node.close();
});

/** A deadline that no endpoint exceeds within a test. */
const NEVER_MS = 600_000;

describe('a silent endpoint', () => {
  let silent: FaultyNode;
  beforeEach(async () => {
    silent = await startFaultyNode({
      upstream: suite.chain.rpc.url,
      fault: { kind: 'never-answers' },
    });
  });
  afterEach(() => silent.close());

  const said = (): string[] => (suite.indexer?.log ?? []).map(({ msg }) => msg);

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
