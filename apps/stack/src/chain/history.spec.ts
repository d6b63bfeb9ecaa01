import { describe, expect, it } from '@jest/globals';
import { type StakeBlock, type StakeMove } from '#libs/devchain';
import { type Address, parseAddress, SECONDS_PER_DAY } from '#libs/domain';
import { countEvents, Crowd, makeHistory, Random } from './history.js';

const TO = 1_760_000_000;
const FROM = TO - 42 * SECONDS_PER_DAY;
const wallets = Array.from({ length: 40 }, (_, index) =>
  parseAddress('0x' + String(index + 1).padStart(40, '0')),
).filter((wallet) => wallet !== undefined);

function history(seed: number): StakeBlock[] {
  const random = new Random(seed);
  return makeHistory(random, new Crowd(random, wallets), {
    fromSeconds: FROM,
    toSeconds: TO,
    blocks: 1_350,
    settledBy: 64,
  });
}

const movesOf = (block: StakeBlock): StakeMove[] =>
  block.transactions.flatMap((one) => ('kind' in one ? [one] : [...one]));

describe('the history of the local chain', () => {
  it('is the same for the same seed', () => {
    expect(history(7)).toEqual(history(7));
    expect(history(7)).not.toEqual(history(8));
  });

  it('has several thousand events of all wallets, some in one transaction', () => {
    const blocks = history(7);
    expect(countEvents(blocks)).toBeGreaterThan(3_000);
    expect(new Set(blocks.flatMap(movesOf).map(({ wallet }) => wallet)).size).toBe(wallets.length);
    expect(blocks.some(({ transactions }) => transactions.some((one) => !('kind' in one)))).toBe(
      true,
    );
  });

  it('never moves nothing and never withdraws more than is staked', () => {
    const staked = new Map<Address, bigint>();
    for (const { kind, wallet, amount } of history(7).flatMap(movesOf)) {
      const balance = (staked.get(wallet) ?? 0n) + (kind === 'stake' ? amount : -amount);
      if (amount <= 0n || balance < 0n) throw new Error(`${wallet} ${kind}s ${amount}`);
      staked.set(wallet, balance);
    }
    expect([...staked.values()].filter((balance) => balance === 0n)).not.toHaveLength(0);
  });

  it('runs forward up to now, with a block at every midnight', () => {
    const times = history(7).map(({ seconds }) => seconds);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThanOrEqual(FROM);
    expect(times.at(-1)).toBe(TO);
    expect(times.filter((seconds) => seconds % SECONDS_PER_DAY === 0)).toHaveLength(42);
  });
});
