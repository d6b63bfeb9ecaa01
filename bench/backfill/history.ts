/**
 * Generates a long staking history: some tens of thousands of wallets, a few of them busy. Each block has transactions
 * with ten stakes each, and withdrawals of single wallets. A block comes every four minutes on average, so that 10,000
 * blocks are four weeks.
 */
import {
  stake,
  type StakeBlock,
  type StakeMove,
  type StakeTransaction,
  withdraw,
} from '#libs/devchain';
import { type Address } from '#libs/domain';
import { type Random, walletAt } from '../support/random.js';

export interface HistoryShape {
  readonly blocks: number;
  readonly eventsPerBlock: number;
  readonly wallets: number;
  readonly fromSeconds: number;
}

const STAKES_AT_ONCE = 10;
/** Share of events that are withdrawals. */
const WITHDRAWALS = 0.1;
const BLOCK_SECONDS = 240;
const TOKEN = 10n ** 18n;

export function* history(random: Random, shape: HistoryShape): Generator<StakeBlock> {
  const wallets = Array.from({ length: shape.wallets }, (_, index) => walletAt(index));
  const staked = new Map<Address, bigint>();
  let seconds = shape.fromSeconds;
  for (let block = 0; block < shape.blocks; block += 1) {
    seconds += random.between(1, 2 * BLOCK_SECONDS - 1);
    yield {
      seconds,
      transactions: transactions(random, shape.eventsPerBlock, { wallets, staked }),
    };
  }
}

function transactions(
  random: Random,
  events: number,
  { wallets, staked }: { wallets: readonly Address[]; staked: Map<Address, bigint> },
): StakeTransaction[] {
  const somebody = (): Address => {
    const wallet = wallets[Math.floor(random.next() ** 2 * wallets.length)];
    if (wallet === undefined) throw new Error('there are no wallets');
    return wallet;
  };
  const withdrawals: StakeMove[] = [];
  // Withdrawals take only amounts that were staked in earlier blocks, since the order within a block is not fixed.
  for (let tries = 0; withdrawals.length < events * WITHDRAWALS && tries < events; tries += 1) {
    const wallet = somebody();
    const held = staked.get(wallet) ?? 0n;
    const amount = (held * BigInt(random.between(1, 1000))) / 1000n;
    if (amount === 0n) continue;
    staked.set(wallet, held - amount);
    withdrawals.push(withdraw(wallet, amount));
  }
  const stakes = Array.from({ length: events - withdrawals.length }, () => {
    const wallet = somebody();
    const amount = (TOKEN * BigInt(random.between(1, 1_000_000))) / 1000n;
    staked.set(wallet, (staked.get(wallet) ?? 0n) + amount);
    return stake(wallet, amount);
  });
  const bundles: StakeTransaction[] = [];
  for (let at = 0; at < stakes.length; at += STAKES_AT_ONCE)
    bundles.push(stakes.slice(at, at + STAKES_AT_ONCE));
  return [...bundles, ...withdrawals];
}
