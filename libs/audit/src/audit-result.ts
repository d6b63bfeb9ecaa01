import { type AuditDifference } from '#libs/db';
import { type BlockRef } from '#libs/domain';

export interface AuditResult {
  readonly block: BlockRef;
  /** Of the index, also those whose history begins after the block. */
  readonly wallets: number;
  /** Held against the contract; undefined where no contract or node tells balances. */
  readonly compared: number | undefined;
  /** False where the nodes forgot the block's state before all balances that were wanted had been compared. */
  readonly isWhole: boolean;
  readonly differences: readonly AuditDifference[];
  readonly total: { readonly indexed: bigint; readonly contract: bigint | undefined };
}
