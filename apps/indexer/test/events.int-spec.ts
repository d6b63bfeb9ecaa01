/** Contracts of other shapes than the usual one: in the end the contract's own figures decide. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { deployStaking } from '#libs/devchain';
import { type Address } from '#libs/domain';
import { stake, StakingPlayer, withdraw } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { type IndexerUnderTest } from './harness.js';
import { HistoryMaker, randomOf } from './history.js';
import { IndexerSuite, START } from './suite.js';

const NONE_COUNTS = /none of them counts.*STAKE_EVENTS.*preset/;

const suite = new IndexerSuite();

async function indexedBalances(): Promise<Map<string, bigint>> {
  const { pool } = await suite.database.open();
  const { rows } = await pool.query<{ wallet: string; balance: string }>(
    `SELECT DISTINCT ON (wallet) '0x' || encode(wallet, 'hex') AS wallet, balance
     FROM staking.balance_change ORDER BY wallet, block DESC`,
  );
  return new Map(rows.map(({ wallet, balance }) => [wallet, BigInt(balance)]));
}

async function balanceOf(contract: Address, wallet: string): Promise<bigint> {
  const data = `0x70a08231${wallet.slice(2).padStart(64, '0')}`;
  return BigInt(await suite.chain.rpc.call<string>('eth_call', { to: contract, data }, 'latest'));
}

describe('STAKE_EVENTS', () => {
  it('transfer: the holders of a receipt token, mint and burn included', async () => {
    const { token, treasury, staking } = suite.chain.contracts;
    await suite.chain.player.play(new HistoryMaker(randomOf(31), START).blocks(40));
    const running = await suite.start({
      contracts: [token],
      events: 'transfer',
      overrides: { firstBlock: 1n },
    });
    await running.level();
    const balances = await indexedBalances();
    expect([...balances.keys()]).toEqual(expect.arrayContaining([treasury, staking]));
    for (const [wallet, balance] of balances)
      expect([wallet, balance]).toEqual([wallet, await balanceOf(token, wallet)]);
    expect(running.status.verifiedNumber).toBe(running.status.head?.number);
  });

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
