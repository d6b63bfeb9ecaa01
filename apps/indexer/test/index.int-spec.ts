import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { IndexStore, LeaderLock } from '#libs/db';
import { deployStaking } from '#libs/devchain';
import { stake, StakingPlayer, withdraw } from '#libs/testing/chain';
import { anInitialIndex, aWallet } from '#libs/testing/database';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { type IndexerUnderTest, startIndexer } from './harness.js';
import { HistoryMaker, randomOf } from './history.js';
import { lie } from './lies.js';
import { IndexerSuite, START } from './suite.js';

const suite = new IndexerSuite();

describe('the index', () => {
  it('holds exactly what the chain says, after a backfill and while following', async () => {
    const history = new HistoryMaker(randomOf(1), START);
    await suite.chain.player.play(history.blocks(120));
    const running = await suite.start({ overrides: { maxRangeBlocks: 37 } });
    await running.level();
    await suite.expectIndexed();
    for (let step = 0; step < 5; step++) {
      await suite.chain.player.play(history.blocks(7));
      await running.level();
      await suite.expectIndexed();
    }
    expect(running.status.verifiedNumber).toBe(running.status.head?.number);
  });

  it('does not roll back when the head goes backwards, until another hash stands at the same height', async () => {
    const history = new HistoryMaker(randomOf(5), START);
    await suite.chain.player.play(history.blocks(40));
    const fork = history.save();
    await suite.chain.player.play(history.blocks(5));
    const running = await suite.start();
    await running.level();
    const head = running.status.head?.number;
    await suite.chain.player.rollback(5);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(running.status.head?.number).toBe(head);
    history.restore(fork);
    await suite.chain.player.play(history.blocks(6));
    await running.level();
    await suite.expectIndexed();
  });

  it('stops at a reorganisation deeper than finality and overwrites nothing', async () => {
    const history = new HistoryMaker(randomOf(6), START);
    await suite.chain.player.play(history.blocks(20));
    const fork = history.save();
    await suite.chain.player.play(history.blocks(20));
    const running = await suite.start({ finality: 'depth:10' });
    await running.level();
    const before = await suite.tables();
    history.restore(fork);
    await suite.chain.player.reorganise(20, history.blocks(21));
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.notReady(Date.now(), 120)).toMatch(
      /halted: The chain no longer has the finalised block/,
    );
    expect(await suite.tables()).toEqual(before);
    const { rows } = await (
      await suite.database.open()
    ).pool.query<{ halted_reason: string }>('SELECT halted_reason FROM staking.index_state');
    expect(rows[0]?.halted_reason).toMatch(/finalised block/);
  });

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
  [31, 32],
  [59, 60],
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
  it('a file with a filter: only the events that meet it count', async () => {
    const [alice, bob] = [aWallet(0xa), aWallet(0xb)];
    await suite.chain.player.block(START + 1, [stake(alice, 70n), stake(bob, 50n)]);
    await suite.chain.player.block(START + 2, stake(alice, 5n), withdraw(bob, 20n));
    const running = await startWhere({ amount: '70' });
    expect(running.log.filter(({ msg }) => NONE_COUNTS.test(msg))).toEqual([]);
    expect([...(await indexedBalances())]).toEqual([[alice, 70n]]);
  });

  it('warns once where events come and none of them meets the filter', async () => {
    const { player } = suite.chain;
    await player.block(START + 1, stake(aWallet(0xa), 70n), stake(aWallet(0xb), 50n));
    const running = await startWhere({ amount: '71' });
    await player.block(START + 2, stake(aWallet(0xa), 70n));
    await running.level();
    expect(await indexedBalances()).toEqual(new Map());
    expect(running.log.filter(({ msg }) => NONE_COUNTS.test(msg))).toEqual([
      expect.objectContaining({
        level: 'warn',
        events: 2,
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
  it('other than those that the index was made with are refused, and nothing is lost', async () => {
    await suite.chain.player.play(new HistoryMaker(randomOf(9), START).blocks(20));
    const first = await suite.start();
    await first.level();
    await first.stop();
    const second = await suite.start({ events: 'deposit-withdraw' });
    await expect(second.running).rejects.toMatchObject({
      code: 'SETTINGS_CHANGED',
      message: expect.stringContaining('STAKE_EVENTS was') as unknown,
    });
    await suite.expectIndexed();
  });

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
    await expect(resumed.running).rejects.toMatchObject({ code: 'TOKEN_DISPUTED' });
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
