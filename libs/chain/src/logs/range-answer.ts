import { type BlockDeltas, type BlockHash, type BlockHeader, type BlockRef } from '#libs/domain';
import { type FullHeader } from '../shape/header.js';
import { type BlockLogs } from './range-logs.js';

/** The logs of a range of blocks, vouched for by the node that gave them. */
export interface RangeAnswer {
  readonly from: bigint;
  readonly to: bigint;
  /** The endpoint that answered. */
  readonly endpoint: string;
  /** Of `from`: the hash of the block before the range. Undefined where that header was not read. */
  readonly parentHash: BlockHash | undefined;
  /** The header of `to`. */
  readonly head: BlockHeader;
  /** Blocks in which something happened, ascending. */
  readonly blocks: readonly BlockDeltas[];
  /** Every block of the range; with `headers: 'events'` those with events and the last. Ascending. */
  readonly headers: readonly BlockRef[];
  /** Each of the headers hashes to its own hash, so that its time is that of the hash. */
  readonly isProven: boolean;
  /** The contracts' total at the end of `to`, where it was asked for with the logs and told. */
  readonly total?: bigint | undefined;
  /** Logs read. */
  readonly events: number;
  /** Bytes of the bodies, decoded. */
  readonly bytes: number;
}

/** What was read for an answer. */
export interface RangeReading {
  readonly endpoint: string;
  /** Ascending; the last is that of `to`. */
  readonly headers: readonly FullHeader[];
  readonly blocks: readonly BlockLogs[];
  readonly total?: bigint | undefined;
  readonly events: number;
  readonly bytes: number;
}

export function toRangeAnswer(
  range: { readonly from: bigint; readonly to: bigint },
  reading: RangeReading,
): RangeAnswer {
  const { endpoint, blocks, total, events, bytes } = reading;
  return {
    ...range,
    endpoint,
    parentHash: reading.headers.find(({ number }) => number === range.from)?.parentHash,
    head: headerOf(reading.headers.at(-1)),
    blocks: blocks
      .filter((block) => block.deltas.length > 0)
      .map((block) => ({
        blockNumber: BigInt(block.number),
        timestampSeconds: timeOf(block),
        deltas: block.deltas,
      })),
    headers: reading.headers.map(({ number, hash, timestampSeconds }) => ({
      number,
      hash,
      timestampSeconds,
    })),
    isProven: reading.headers.every(({ isProven }) => isProven === true),
    total,
    events,
    bytes,
  };
}

/** Without the bloom, which is half a kilobyte for each block. */
function headerOf(header: FullHeader | undefined): BlockHeader {
  if (!header) throw new RangeError('an answer without headers');
  const { number, hash, parentHash, timestampSeconds } = header;
  return { number, hash, parentHash, timestampSeconds };
}

function timeOf(block: BlockLogs): number {
  if (block.timestampSeconds === undefined) {
    throw new RangeError(`the time of block ${block.number} was never read`);
  }
  return block.timestampSeconds;
}
