import { type Address, type BlockHash } from '#libs/domain';

/** A wallet whose balance in the index is not what the contract says; both in the token's smallest unit. */
export interface AuditDifference {
  readonly wallet: Address;
  readonly indexed: bigint;
  readonly contract: bigint;
}

/** What a comparison of the index with the contract found, at one block. */
export interface AuditFindings {
  readonly result: 'ok' | 'different';
  readonly blockNumber: bigint;
  readonly blockHash: BlockHash;
  /** Of the index. */
  readonly wallets: number;
  /** Undefined where the contract tells no balances. */
  readonly compared: number | undefined;
  /** How many wallets differ. */
  readonly differences: number;
  /** The first of them. */
  readonly different: readonly AuditDifference[];
  readonly indexedTotal: bigint;
  /** Undefined where the contract tells no total. */
  readonly contractTotal: bigint | undefined;
}

/** One audit that ended: with findings, or without because it could not be made. */
export type AuditRun = { readonly startedAt: Date; readonly finishedAt: Date } & (
  AuditFindings | { readonly result: 'impossible'; readonly reason: string }
);

/** One that compared. */
export type AuditComparison = Extract<AuditRun, AuditFindings>;
