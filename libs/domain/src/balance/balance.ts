import { type Address } from '../values/address.js';

/** The effect of one event on the stake of one wallet. A transfer event has two effects. */
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
 * The opening of one interval of a wallet's balance: from this block and its timestamp on the wallet holds `balance`,
 * until its next change.
 */
export interface BalanceChange {
  readonly wallet: Address;
  readonly blockNumber: bigint;
  readonly timestampSeconds: number;
  /** Balance at the end of the block, in the token's smallest unit. */
  readonly balance: bigint;
}

/** A UTC day on which a wallet's balance changed. The day's minimum is the lower of `low` and `closing`. */
export interface DayBalance {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  /**
   * The lowest balance that the wallet held for any time of the day before its closing balance, including the balance
   * at 00:00. Null where the day has no change after 00:00:00, so the closing balance held all day.
   */
  readonly low: bigint | null;
  readonly closing: bigint;
}

export interface BalanceDay extends DayBalance {
  readonly wallet: Address;
}

/** The state of a wallet that its next change is applied to. */
export interface WalletState {
  readonly balance: bigint;
  /**
   * Time of the wallet's newest change, Unix seconds. If the next change is on a later day, any second of the same day
   * serves.
   */
  readonly sinceSeconds: number;
  /** `low` of the `DayBalance` for the day of the newest change. */
  readonly low: bigint | null;
}
