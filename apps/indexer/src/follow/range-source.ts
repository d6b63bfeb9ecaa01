/** The ranges that the index lacks, read and vouched for: those of a long way to go, several at a time, or the newest one. */
import { ANSWER_BYTES, type BlockRange, RangeSizer, type RpcPool, streamRanges } from '#libs/chain';
import { inSpan, type SpanStart } from '#libs/platform';
import { type IndexOptions } from '../index-options.js';
import { type RangeVerifier } from '../verify/range-verifier.js';
import { type SuspectRanges } from '../verify/suspect-ranges.js';
import { joinRanges, type VerifiedRange } from '../verify/verified-range.js';
import { type TipWithBlocks } from './heads-reader.js';

/**
 * Fetched ahead of the database, as it came; what is kept of it is a tenth as large. All that is there when the database is free
 * goes into one transaction, and large ones are cheaper; see docs/performance.md.
 */
const MAX_BUFFERED_BYTES = 40 * 1024 * 1024;
const INITIAL_BLOCKS = 100;

export class RangeSource {
  private readonly sizer: RangeSizer;

  constructor(
    private readonly pool: RpcPool,
    private readonly verifier: RangeVerifier,
    private readonly suspects: SuspectRanges,
    { maxRangeBlocks }: IndexOptions,
  ) {
    this.sizer = new RangeSizer({
      targetBytes: ANSWER_BYTES,
      maxBlocks: maxRangeBlocks,
      initialBlocks: INITIAL_BLOCKS,
    });
  }

  /** Ascending, without a gap. @param final the newest final block */
  stream(
    missing: BlockRange,
    final: bigint,
    signal: AbortSignal,
  ): AsyncGenerator<VerifiedRange, void, undefined> {
    return streamRanges<VerifiedRange>(
      missing,
      {
        fetch: (range, fetchSignal) =>
          inSpan(rangeSpan('read', range), () =>
            this.verifier.read(range, { isFinal: range.to <= final, signal: fetchSignal }),
          ),
        sizer: this.sizer,
        concurrency: () => this.pool.parallelism(),
        maxBufferedBytes: MAX_BUFFERED_BYTES,
        cut: (range) => this.suspects.cut(cutAt(final, range)),
        join: joinRanges,
      },
      signal,
    );
  }

  /** @param indexedTotal the index's total before the new blocks */
  vouchForTip(
    { answer, total: newestTotal }: TipWithBlocks,
    indexedTotal: bigint,
    signal: AbortSignal,
  ): Promise<VerifiedRange> {
    const tip = { newestTotal, indexedTotal };
    return inSpan(rangeSpan('read', answer), () =>
      this.verifier.vouch(answer, { isFinal: false, signal, tip }),
    );
  }
}

/** Blocks that are read from the chain, or written to the index; both ends belong to them. */
export function rangeSpan(what: 'read' | 'write', { from, to }: BlockRange): SpanStart {
  return {
    name: `${what} range`,
    attributes: { 'lowmark.from_block': Number(from), 'lowmark.to_block': Number(to) },
  };
}

/** No range holds final blocks and others: the two are read in different ways. */
function cutAt(final: bigint, range: BlockRange): BlockRange {
  return range.from <= final && final < range.to ? { from: range.from, to: final } : range;
}
