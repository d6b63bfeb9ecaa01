import { type BlockHash, type BlockRef, type NodeHash, RetryableError } from '#libs/domain';
import { type RowOf } from '../rows.js';

/** A UTC day as it was sealed; see staking.sealed_day. */
export interface SealedDay {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  /** From 1 on; the newest counts. */
  readonly revision: number;
  readonly root: NodeHash;
  /** How many had a low above zero. */
  readonly wallets: number;
  /** The sum of their lows, in the token's smallest unit. */
  readonly total: bigint;
  /** The last block of the day. */
  readonly blockNumber: bigint;
  readonly blockHash: BlockHash;
  /** The version that sealed it. */
  readonly software: string;
  /** Of the revision before this one. */
  readonly previousRoot: NodeHash | undefined;
  readonly sealedAt: Date;
}

/** What a day comes out as. */
export type SealedContent = Pick<SealedDay, 'day' | 'root' | 'wallets' | 'total' | 'software'> & {
  readonly block: Pick<BlockRef, 'number' | 'hash'>;
};

/** The columns that make a SealedDayRow; `s` is staking.sealed_day. */
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

/** The index went back, or has another leader, since the day was worked out. Nothing was written: begin it anew. */
export class SealOutdatedError extends RetryableError {
  constructor(day: number) {
    super(
      'SEAL_OUTDATED',
      `The index changed while day ${day} was being sealed, or is not final and verified up to its end; nothing was written`,
    );
  }
}
