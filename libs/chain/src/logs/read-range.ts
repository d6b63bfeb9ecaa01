/** A range of blocks as one node answered it, and as it is handed on. */
import {
  type BlockDeltas,
  type BlockHash,
  type BlockHeader,
  type BlockRef,
  type StakeDelta,
  ZERO_ADDRESS,
} from '#libs/domain';
import { type FullHeader, plainHeader, refOf } from '../blocks/header.js';

/** Blocks `from` to `to`, both included. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

export interface BlockLogs {
  readonly number: number;
  readonly hash: BlockHash;
  /** The log's own time, which is a hint; once headers are known, that of the header. Undefined where neither has it. */
  timestampSeconds: number | undefined;
  readonly deltas: StakeDelta[];
  /** What transfers sent to the zero address. */
  burnt: bigint;
  logs: number;
  readonly seen: Set<string>;
}

/** What one node answered about a range. */
export interface AnsweredRange {
  /** The blocks of the logs, ascending. */
  readonly blocks: readonly BlockLogs[];
  /** Ascending; the last is that of `to`. */
  readonly headers: readonly FullHeader[];
  /** The contracts' total at the end of the range, if it was asked for and answered. */
  readonly total?: bigint | undefined;
  readonly bytes: number;
}

/** A range of blocks as it was read, with what vouches for it so far. */
export interface ReadRange extends BlockRange {
  readonly endpoint: string;
  /** Hash of the block before the range, from the header of `from`; undefined where that header was not read. */
  readonly parentHash: BlockHash | undefined;
  readonly head: BlockHeader;
  /** Blocks with effects, ascending. */
  readonly blocks: readonly BlockDeltas[];
  /** Every block of the range; with `headers: 'events'` the blocks with events and the last block. Ascending. */
  readonly headers: readonly BlockRef[];
  /** Whether the fields of each header hash to its own hash, so its time is proven. */
  readonly isProven: boolean;
  /** Change of the sum of all balances. */
  readonly change: bigint;
  /** The contracts' total where it is known: at the end, and, in a joined range, at the ends of its parts. Ascending. */
  readonly totals: readonly ReadTotal[];
  /** Another provider that reports the same. */
  readonly confirmedBy: Confirmation | undefined;
  /** What transfers sent to the zero address. */
  readonly burnt: bigint;
  readonly events: number;
  /** Decoded bytes of the bodies. */
  readonly bytes: number;
}

/** The contracts' total at the end of a block. */
export interface ReadTotal {
  readonly block: BlockHeader;
  readonly total: bigint;
  readonly endpoint: string;
}

export interface Confirmation {
  readonly endpoint: string;
  /** Its newest final block, where it was asked for. */
  readonly finalised: BlockHeader | undefined;
}

export function toReadRange(
  { from, to }: BlockRange,
  endpoint: string,
  { headers, blocks: read, total, bytes }: AnsweredRange,
): ReadRange {
  const head = lastOf(headers);
  const blocks = read
    .filter((block) => block.deltas.length > 0)
    .map((block) => ({
      blockNumber: BigInt(block.number),
      timestampSeconds: timeOf(block),
      deltas: block.deltas,
    }));
  return {
    from,
    to,
    endpoint,
    parentHash: headers.find(({ number }) => number === from)?.parentHash,
    head,
    blocks,
    headers: headers.map(refOf),
    isProven: headers.every(({ isProven }) => isProven === true),
    change: changeOf(blocks),
    totals: total === undefined ? [] : [{ block: head, total, endpoint }],
    confirmedBy: undefined,
    burnt: read.reduce((sum, { burnt }) => sum + burnt, 0n),
    events: read.reduce((sum, { logs }) => sum + logs, 0),
    bytes,
  };
}

/** Change of the sum of all balances. The zero address has no balance. */
export function changeOf(blocks: readonly BlockDeltas[]): bigint {
  let change = 0n;
  for (const { deltas } of blocks)
    for (const { wallet, amount } of deltas) if (wallet !== ZERO_ADDRESS) change += amount;
  return change;
}

function lastOf(headers: readonly FullHeader[]): BlockHeader {
  const header = headers.at(-1);
  if (!header) throw new RangeError('an answer without headers');
  return plainHeader(header);
}

function timeOf(block: BlockLogs): number {
  if (block.timestampSeconds === undefined) {
    throw new RangeError(`the time of block ${block.number} was never read`);
  }
  return block.timestampSeconds;
}
