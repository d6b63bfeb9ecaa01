import { type Address } from '#libs/domain';

/** Part of a transaction: one `Staked` or `Withdrawn` event, amounts in the token's smallest unit. */
export interface StakeMove {
  readonly kind: 'stake' | 'withdraw';
  readonly wallet: Address;
  readonly amount: bigint;
}

/** One transaction: a single event, or several in this order. */
export type StakeTransaction = StakeMove | readonly StakeMove[];

/** One block; its transactions are executed in no particular order, except that those of one wallet keep theirs. */
export interface StakeBlock {
  /** Unix seconds, not below the timestamp of the block before. */
  readonly seconds: number;
  readonly transactions: readonly StakeTransaction[];
}

export function stake(wallet: Address, amount: bigint): StakeMove {
  return { kind: 'stake', wallet, amount };
}

export function withdraw(wallet: Address, amount: bigint): StakeMove {
  return { kind: 'withdraw', wallet, amount };
}
