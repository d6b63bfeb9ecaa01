import { type Address } from '../chain/address.js';

/** One effect of one event on one wallet's stake; a transfer has two. */
export interface StakeDelta {
  readonly wallet: Address;
  /** Signed, in the token's smallest unit. */
  readonly amount: bigint;
}

/** All effects of one block, in log order. */
export interface BlockDeltas {
  readonly blockNumber: bigint;
  /** Unix time, whole seconds. */
  readonly timestampSeconds: number;
  readonly deltas: readonly StakeDelta[];
}

/**
 * Where one interval of a wallet's balance ends and the next begins: from this block on (and from its timestamp on) the
 * wallet holds `balance`, until its next change.
 */
export interface BalanceChange {
  readonly wallet: Address;
  readonly blockNumber: bigint;
  readonly timestampSeconds: number;
  /** In the token's smallest unit, as it stands at the end of the block. */
  readonly balance: bigint;
}

/** A UTC day on which a wallet's balance changed. The day's minimum is the lower of `low` and `closing`. */
export interface DayBalance {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  /**
   * The lowest balance that was held for any time in the day before the closing balance took over, the balance carried in
   * at 00:00 included; null where the closing balance held all day (a change at exactly 00:00:00 and none after).
   */
  readonly low: bigint | null;
  /** The balance that stands when the day ends. */
  readonly closing: bigint;
}

export interface BalanceDay extends DayBalance {
  readonly wallet: Address;
}

/** What must be known of a wallet to apply its next change. */
export interface WalletState {
  readonly balance: bigint;
  /** The timestamp of its newest change, Unix seconds; where that is of an earlier day than the next change, any of its day will do. */
  readonly sinceSeconds: number;
  /** `low` of the day of its newest change. */
  readonly low: bigint | null;
}
