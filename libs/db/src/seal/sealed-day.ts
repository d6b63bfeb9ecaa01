import { type BlockHash, type BlockRef, type NodeHash, RetryableError } from '#libs/domain';
import { hashOf, nodeOf } from '../rows.js';

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
export const SEALED_COLUMNS = `s.day, s.revision, encode(s.root, 'hex') AS root, s.wallets, s.total, s.block_number,
  encode(s.block_hash, 'hex') AS block_hash, s.software, encode(s.previous_root, 'hex') AS previous_root, s.sealed_at`;

export interface SealedDayRow {
  day: number;
  revision: number;
  root: string;
  wallets: number;
  total: string;
  block_number: string;
  block_hash: string;
  software: string;
  previous_root: string | null;
  sealed_at: Date;
}

export function sealedDayOf(row: SealedDayRow): SealedDay {
  return {
    day: row.day,
    revision: row.revision,
    root: nodeOf(row.root),
    wallets: row.wallets,
    total: BigInt(row.total),
    blockNumber: BigInt(row.block_number),
    blockHash: hashOf(row.block_hash),
    software: row.software,
    previousRoot: row.previous_root === null ? undefined : nodeOf(row.previous_root),
    sealedAt: row.sealed_at,
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
