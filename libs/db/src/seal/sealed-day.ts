import { type BlockHash, type BlockRef, type NodeHash, RetryableError } from '#libs/domain';
import { type RowOf } from '../connection/rows.js';

/** A UTC day as it was sealed; see staking.sealed_day. */
export interface SealedDay {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  /** Counts from 1. Only the newest revision is valid. */
  readonly revision: number;
  readonly root: NodeHash;
  /** Number of wallets with a low above zero. */
  readonly wallets: number;
  /** Sum of all lows, in the token's smallest unit. */
  readonly total: bigint;
  /** The last block of the day. */
  readonly blockNumber: bigint;
  readonly blockHash: BlockHash;
  /** The version of the program that sealed the day. */
  readonly software: string;
  /** Root of the previous revision; undefined in the first one. */
  readonly previousRoot: NodeHash | undefined;
  readonly sealedAt: Date;
}

/** The result of the work on a day. */
export type SealedContent = Pick<SealedDay, 'day' | 'root' | 'wallets' | 'total' | 'software'> & {
  readonly block: Pick<BlockRef, 'number' | 'hash'>;
};

/** The columns of a SealedDayRow, with `s` as alias of staking.sealed_day. */
export const SEALED_COLUMNS = `s.day, s.revision, '0x' || encode(s.root, 'hex') AS root, s.wallets, s.total,
  s.block_number AS "blockNumber", '0x' || encode(s.block_hash, 'hex') AS "blockHash", s.software,
  '0x' || encode(s.previous_root, 'hex') AS "previousRoot", s.sealed_at AS "sealedAt"`;

export type SealedDayRow = RowOf<SealedDay>;

export function sealedDayOf(row: SealedDayRow): SealedDay {
  return {
    ...row,
    total: BigInt(row.total),
    blockNumber: BigInt(row.blockNumber),
    previousRoot: row.previousRoot ?? undefined,
  };
}

/**
 * Since the work on the day began, the index went back or another process became the leader. Nothing was written; the
 * work has to begin again.
 */
export class SealOutdatedError extends RetryableError {
  constructor(day: number) {
    super(
      'SEAL_OUTDATED',
      `The index changed while day ${day} was being sealed, or is not final and verified up to its end; nothing was written`,
    );
  }
}
