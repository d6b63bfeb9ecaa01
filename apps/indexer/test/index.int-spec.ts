/**
 * The index on a real chain and a real database: reorganisations, settings, endpoints that do not answer, and turns that
 * hang. Backfills, crashes and providers that fail or lie now and then are in test/simulation.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database, IndexStore, LeaderLock } from '#libs/db';
import { deployStaking } from '#libs/devchain';
import { stake, StakingPlayer, withdraw } from '#libs/testing/chain';
import { anInitialIndex, aWallet } from '#libs/testing/database';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { type IndexerUnderTest, startIndexer } from './harness.js';
import { begunHistory, HistoryMaker, randomOf } from './history.js';
import { lie } from './lies.js';
import { IndexerSuite, START } from './suite.js';

const suite = new IndexerSuite();

describe('the index', () => {
  it('freezes, without a rollback, where the node no longer knows the finalised block', async () => {
    const history = new HistoryMaker(randomOf(7), START);
    await suite.chain.player.play(history.blocks(40));
    const running = await suite.start({ finality: 'depth:5' });
    await running.level();
    const head = running.status.head?.number;
    await suite.chain.player.rollback(20);
    await running.until(
      'frozen',
      ({ trouble }) => trouble?.includes('below the finalised') === true,
    );
    expect(running.status.head?.number).toBe(head);
  });
});

/** First and last depth on one chain; a few hundred blocks in all, as anvil cannot revert far on longer chains. */
const DEPTHS = [
  [1, 4],
  [60, 60],
] as const;

it.each(DEPTHS)(
  'follows reorganisations of %s to %s blocks, each across midnight',
  async (from, to) => {
    const history = new HistoryMaker(randomOf(from), START);
    await suite.chain.player.play(history.blocks(30));
    const running = await suite.start();
    for (let depth = from; depth <= to; depth++) {
      history.approachMidnight();
      const fork = history.save();
      await suite.chain.player.play(history.blocks(depth));
      await running.level();
      history.restore(fork);
      // A stake of its own makes the block differ: two empty blocks of the same second would be the same block on
      // both forks.
      const own = stake(aWallet(0x9000 + depth), 1n);
      const first = { seconds: fork.seconds, transactions: [own] };
      await suite.chain.player.reorganise(depth, [first, ...history.blocks(depth)]);
      await running.level();
      await suite.expectIndexed();
    }
    const rolledBack = running.log
      .filter(({ msg }) => msg === 'Rolled back')
      .map((line) => line['depth']);
    expect(rolledBack).toEqual(Array.from({ length: to - from + 1 }, (_, index) => from + index));
  },
);

const NONE_COUNTS = /none of them counts.*STAKE_EVENTS.*preset/;

async function indexedBalances(): Promise<Map<string, bigint>> {
  const { pool } = await suite.database.open();
  const { rows } = await pool.query<{ wallet: string; balance: string }>(
    `SELECT DISTINCT ON (wallet) '0x' || encode(wallet, 'hex') AS wallet, balance
     FROM staking.balance_change ORDER BY wallet, block DESC`,
  );
  return new Map(rows.map(({ wallet, balance }) => [wallet, BigInt(balance)]));
}

describe('STAKE_EVENTS', () => {
  it('a file with a filter: only the events that meet it count, and a warning comes once where none does', async () => {
    const { player } = suite.chain;
    const [alice, bob] = [aWallet(0xa), aWallet(0xb)];
    await player.block(START + 1, [stake(alice, 70n), stake(bob, 50n)]);
    await player.block(START + 2, stake(alice, 5n), withdraw(bob, 20n));
    const some = await startWhere({ amount: '70' });
    expect(some.log.filter(({ msg }) => NONE_COUNTS.test(msg))).toEqual([]);
    expect([...(await indexedBalances())]).toEqual([[alice, 70n]]);
    await some.stop();
    await suite.database.empty();
    const none = await startWhere({ amount: '71' });
    await player.block(START + 3, stake(alice, 70n));
    await none.level();
    expect(await indexedBalances()).toEqual(new Map());
    expect(none.log.filter(({ msg }) => NONE_COUNTS.test(msg))).toEqual([
      expect.objectContaining({
        level: 'warn',
        events: 3,
        stakeEvents: expect.stringMatching(/events\.json$/),
      }),
    ]);
  });
});

/** Starts an indexer that counts only stakes meeting a condition, and waits until it is level. */
async function startWhere(where: Record<string, string>): Promise<IndexerUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'lowmark-events-'));
  try {
    const file = join(folder, 'events.json');
    const entry = {
      event: 'event Staked(address indexed user, uint256 amount)',
      account: 'user',
      amount: 'amount',
      effect: 'increase',
      where,
    };
    await writeFile(file, JSON.stringify([entry]));
    const running = await suite.start({
      ...{ events: file, verification: 'none', totalView: [], balanceView: [] },
    });
    await running.level();
    return running;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('several staking contracts', () => {
  it('add up to one balance, checked against both', async () => {
    const { player } = suite.chain;
    const second = await deployStaking(suite.chain.rpc, START);
    const other = new StakingPlayer(suite.chain.rpc, second);
    const wallet = aWallet(0xc);
    await player.block(START + 10, stake(wallet, 100n));
    await other.block(START + 20, stake(wallet, 11n));
    await player.block(START + 30, withdraw(wallet, 40n));
    const running = await suite.start({
      contracts: [suite.chain.contracts.staking, second.staking],
    });
    await running.level();
    expect((await indexedBalances()).get(wallet)).toBe(71n);
    expect(running.status.verifiedNumber).toBe(running.status.head?.number);
    await running.stop();
    const swapped = await suite.start({ contracts: [second.staking] });
    await expect(swapped.running).rejects.toMatchObject({ code: 'SETTINGS_CHANGED' });
  });
});

describe('settings', () => {
  it('of another rebuilt index end the standby, which leaves that index and its lock alone', async () => {
    const leader = await suite.start();
    await leader.level();
    const standby = await startIndexer({ chain: suite.chain, database: suite.database });
    try {
      await standby.until('standing by', ({ phase }) => phase === 'standby');
      const database = await suite.database.open();
      await database.query({
        text: 'TRUNCATE staking.balance_change, staking.balance_day, staking.block, staking.index_state',
      });
      const { head } = await new IndexStore(database).create(anInitialIndex());
      await leader.stop();
      await expect(standby.running).rejects.toMatchObject({ code: 'SETTINGS_CHANGED' });
      expect(await new IndexStore(database).state()).toMatchObject({ head, fence: 0n });
      const lock = new LeaderLock({ url: suite.database.url, applicationName: 'indexer' });
      expect(await lock.tryAcquire()).toBe(true);
      await lock.release();
    } finally {
      await standby.stop();
    }
  });

  it('refuses a contract that is not there', async () => {
    const nowhere = '0x00000000000000000000000000000000000000ff' as never;
    const running = await suite.start({ contracts: [nowhere] });
    await expect(running.running).rejects.toMatchObject({ code: 'NO_CONTRACT' });
  });
});

describe('the token’s own data, when an index is resumed', () => {
  let nodes: [FaultyNode, FaultyNode];
  beforeEach(async () => {
    const upstream = suite.chain.rpc.url;
    nodes = [await startFaultyNode({ upstream }), await startFaultyNode({ upstream })];
  });
  afterEach(() => Promise.all(nodes.map((node) => node.close())));

  const SIX_DECIMALS = lie(({ method, params }) =>
    method === 'eth_call' && (params[0] as Record<string, unknown>)['data'] === '0x313ce567'
      ? `0x${'6'.padStart(64, '0')}`
      : undefined,
  );

  it('is compared between two providers again', async () => {
    const [one, other] = nodes;
    const urls = [one.url, other.url];
    const first = await suite.start({ urls });
    await first.level();
    await first.stop();
    other.fault = SIX_DECIMALS;
    const resumed = await suite.start({ urls });
    await expect(resumed.running).rejects.toMatchObject({
      code: 'TOKEN_DISPUTED',
      // The endpoint that answers first is named first.
      message: expect.stringMatching(/ (6|18) decimals by .*, but .* (?!\1)(6|18) decimals by /),
    });
  });

  it('is compared with what the index was made with', async () => {
    const [one, other] = nodes;
    one.fault = SIX_DECIMALS;
    const first = await suite.start({ urls: [one.url] });
    await first.level();
    await first.stop();
    const resumed = await suite.start({ urls: [other.url] });
    await expect(resumed.running).rejects.toMatchObject({
      code: 'TOKEN_CHANGED',
      message: expect.stringMatching(/made with 6 decimals.* 18/),
    });
  });
});

const STALL_MS = 300;
const ROLLBACK_STALL_MS = 800;
const STALLED = 'Nothing moved for too long: starting the loop afresh';

/** Plays the beginning of a history. */
async function begun(): Promise<HistoryMaker> {
  const { blocks, history } = begunHistory(17, START, 20);
  await suite.chain.player.play(blocks);
  return history;
}

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
  const history = await begun();
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
  const history = await begun();
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

it('halts over a reorganisation deeper than finality when it was found three times, whatever failed before, and overwrites nothing', async () => {
  const history = await begun();
  const fork = history.save();
  await suite.chain.player.play(history.blocks(12));
  const node = await startFaultyNode({ upstream: suite.chain.rpc.url });
  const running = await suite.start({ urls: [node.url], finality: 'depth:5', timeoutMs: 200 });
  await running.level();
  const before = await suite.tables();
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
  expect(running.status.notReady(Date.now(), 120)).toMatch(
    /halted: The chain no longer has the finalised block/,
  );
  expect(await suite.tables()).toEqual(before);
  const { rows } = await (
    await suite.database.open()
  ).pool.query<{ halted_reason: string }>('SELECT halted_reason FROM staking.index_state');
  expect(rows[0]?.halted_reason).toMatch(/finalised block/);
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
    await begun();
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
