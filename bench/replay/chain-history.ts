/** What a synthetic chain knows of its staking history. Events are numbered from 0, in the order of the blocks. */
import { type ReplayMove } from './generate-moves.js';

/**
 * All amounts are multiples of this unit. They have digits in all decimal places, while the stored quotients fit 64
 * bits.
 */
export const AMOUNT_UNIT = 1_000_000_007n;

/** The events of a block: number of the first, and number after the last. */
export interface EventSpan {
  readonly first: number;
  readonly end: number;
}

export interface ChainHistory {
  readonly events: number;
  move(event: number): ReplayMove;
  blockOf(event: number): number;
  /** Empty for a block without events. */
  eventsOf(block: number): EventSpan;
  /** The first block with events that is not below `block`; undefined where there is none. */
  eventBlockFrom(block: number): number | undefined;
  /** Balance of a wallet in a pool at the end of a block. */
  balanceAt(wallet: number, pool: number, block: number): bigint;
  /** The total over all wallets and pools at the end of a block. */
  totalAt(block: number): bigint;
}

export interface BalanceChangeOfOracle {
  readonly wallet: number;
  readonly block: number;
  /** Balance at the end of the block. */
  readonly balance: bigint;
}

export function* eventBlocksIn(
  history: ChainHistory,
  { from, to }: { readonly from: number; readonly to: number },
): Generator<number> {
  for (
    let block = history.eventBlockFrom(from);
    block !== undefined && block <= to;
    block = history.eventBlockFrom(block + 1)
  )
    yield block;
}

/**
 * The balance changes of a pool as the index must hold them, computed from the events alone, without `balanceAt`. A
 * wallet has no change in a block where its balance at the end equals its last known balance.
 */
export function* changesOf(history: ChainHistory, pool: number): Generator<BalanceChangeOfOracle> {
  const standing = new Map<number, bigint>();
  for (const block of eventBlocksIn(history, { from: 0, to: Infinity })) {
    const { first, end } = history.eventsOf(block);
    const before = new Map<number, bigint | undefined>();
    for (let event = first; event < end; event++) {
      const { wallet, pool: of, effect, units } = history.move(event);
      if (of !== pool) continue;
      const balance = standing.get(wallet);
      if (!before.has(wallet)) before.set(wallet, balance);
      standing.set(wallet, (balance ?? 0n) + (effect === 'increase' ? units : -units));
    }
    for (const [wallet, held] of before) {
      const balance = standing.get(wallet) ?? 0n;
      if (balance !== held) yield { wallet, block, balance: balance * AMOUNT_UNIT };
    }
  }
}
