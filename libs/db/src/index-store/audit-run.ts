import { type Address, type BlockHash } from '#libs/domain';

/** A wallet whose balance differs between index and contract, both in the token's smallest unit. */
export interface AuditDifference {
  readonly wallet: Address;
  readonly indexed: bigint;
  readonly contract: bigint;
}

/** In the token's smallest unit. All three are equal in a sound index. */
export interface SumsOfIndex {
  /** The stored total, at the head. */
  readonly stored: bigint;
  /** The newest closings of all wallets (staking.balance_day), added up. */
  readonly closings: bigint;
  /** The newest balances of all wallets (staking.balance_change), added up. */
  readonly balances: bigint;
}

/** Result of a comparison of the index with the contract at one block. */
interface AuditFindings {
  readonly result: 'ok' | 'different';
  readonly blockNumber: bigint;
  readonly blockHash: BlockHash;
  /** Number of wallets in the index. */
  readonly wallets: number;
  /** Number of compared wallets. Undefined where no balances can be read from the contract. */
  readonly compared: number | undefined;
  /** Number of wallets that differ. */
  readonly differences: number;
  /** The first wallets that differ. */
  readonly different: readonly AuditDifference[];
  readonly indexedTotal: bigint;
  /** Undefined where no total can be read from the contract. */
  readonly contractTotal: bigint | undefined;
  /** What the index adds up to by itself, at its head. */
  readonly sums: SumsOfIndex;
}

/** A finished audit: with findings, or with the reason why a comparison was impossible. */
export type AuditRun = { readonly startedAt: Date; readonly finishedAt: Date } & (
  AuditFindings | { readonly result: 'impossible'; readonly reason: string }
);

/** A finished audit with findings. */
export type AuditComparison = Extract<AuditRun, AuditFindings>;
