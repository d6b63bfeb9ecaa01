/**
 * Reads ranges and vouches for them before they are written (docs/decisions/0003), in the mode that STAKE_VERIFICATION comes to.
 *
 * States of a range: read -> agreed (another provider says the same, or the same one again in the mode `wallets`) -> settled (the sum of
 * its events is what the contract's total says, where there is one). A range that stays in doubt is never written.
 */
import {
  AllEndpointsFailedError,
  ANSWER_BYTES,
  askFigure,
  type BlockRange,
  type ChainReader,
  type FetchOptions,
  type FigureOptions,
  isOutage,
  type LogSource,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  type RangeAnswer,
  RangeSizer,
  type RpcPool,
  streamRanges,
  type ToldFigure,
} from '#libs/chain';
import { inSpan, type SpanStart } from '#libs/platform';
import { type TipWithBlocks } from '../follow/heads-reader.js';
import { type IndexOptions } from '../index-options.js';
import { type Agreement, type RangeAgreement } from './range-agreement.js';
import {
  type SuspectRange,
  type SuspectRanges,
  type VerificationPolicy,
} from './verification-policy.js';
import { deltaOf, joinRanges, type VerifiedRange } from './verified-range.js';

interface ReadOptions {
  /** Every block of the range is final: nothing in it can be reorganised. */
  readonly isFinal: boolean;
  readonly signal: AbortSignal;
}

interface VouchOptions extends ReadOptions {
  /** Why the range was read in another way than others. */
  readonly suspect?: SuspectRange | undefined;
  readonly tip?: {
    /** The contract's total by the request that brought the range: at its end, or a little later. */
    readonly newestTotal: bigint | undefined;
    readonly indexedTotal: bigint;
  };
}

export class RangeVerifier {
  constructor(
    private readonly reader: ChainReader,
    private readonly source: LogSource,
    private readonly policy: VerificationPolicy,
    private readonly suspects: SuspectRanges,
    private readonly agreement: RangeAgreement,
  ) {}

  /** @throws AllEndpointsFailedError, RangeTooLargeError, EventsInDoubtError */
  async read(range: BlockRange, { isFinal, signal }: ReadOptions): Promise<VerifiedRange> {
    const { source, reader, policy } = this;
    // Where there is another provider, the total is its word, not that of the one that tells the logs.
    const isTotalWanted = isFinal && policy.comparesTotal(true) && !policy.hasOtherProvider;
    const total = isTotalWanted ? await reader.totalCalls() : undefined;
    const options = { ...policy.fetchOptions(isFinal, signal), total };
    const suspect = this.suspects.at(range.from);
    const answer = suspect
      ? await this.readAgain(range, suspect, options)
      : await source.fetch(range, options);
    return this.vouch(answer, { isFinal, signal, suspect });
  }

  /**
   * @param answer as it was read
   * @throws as `read` does
   */
  async vouch(answer: RangeAnswer, options: VouchOptions): Promise<VerifiedRange> {
    const { isFinal, signal, suspect, tip } = options;
    const comparesTotal = this.policy.comparesTotal(isFinal);
    const agreed = await this.agreement.reach(answer, {
      isFinal,
      signal,
      wantsTotal: comparesTotal && (isFinal || tip !== undefined),
      isByReceipts: suspect?.by === 'receipts',
    });
    const delta = deltaOf(agreed.answer);
    const told = comparesTotal ? await this.totalOf(agreed, delta, options) : undefined;
    const { endpoint, head, bytes } = agreed.answer;
    return {
      answer: agreed.answer,
      delta,
      contractTotal: told?.figure,
      totalBy: told?.endpoint,
      other: agreed.other,
      checkpoints: told ? [{ head, endpoint, total: told.figure }] : [],
      isConfirmed: agreed.other !== undefined || this.policy.mode === 'headers',
      apart: suspect !== undefined,
      bytes,
    };
  }

  /** The contract's total at the end of an answer, by another provider than the one that told the logs, where one answers. */
  private async totalOf(
    { answer, other }: Agreement,
    delta: bigint,
    { isFinal, signal, tip }: VouchOptions,
  ): Promise<ToldFigure<bigint> | undefined> {
    const told = other ? other.total : (tip?.newestTotal ?? answer.total);
    // At the tip it may be of a block that came in between: unless it fits, it is asked for by the block's hash.
    const isOfItsEnd = isFinal || told === (tip?.indexedTotal ?? 0n) + delta;
    if (told !== undefined && isOfItsEnd) {
      return { figure: told, endpoint: other?.endpoint ?? answer.endpoint };
    }
    const ask = (options: FigureOptions) =>
      askFigure((said) => this.reader.stakeTotal(answer.head, { ...options, ...said, signal }));
    const patient = { patienceMs: Infinity };
    if (!other) return ask(patient);
    const avoid = ownProvider(answer.endpoint, this.source.endpoints);
    if (this.policy.mode === 'two') return ask({ ...patient, avoid });
    try {
      return await ask({ avoid, patienceMs: OUTAGE_PATIENCE_MS });
    } catch (error) {
      if (!isOutage(error)) throw error;
      return ask(patient);
    }
  }

  /** From another endpoint where one answers; else from the same one, in the other way. */
  private async readAgain(
    range: BlockRange,
    { avoid, by }: SuspectRange,
    options: FetchOptions,
  ): Promise<RangeAnswer> {
    try {
      return await this.source.fetch(range, { ...options, avoid, by });
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError) || avoid.length === 0) throw error;
      return this.source.fetch(range, { ...options, by });
    }
  }
}

/**
 * Fetched ahead of the database, as it came; what is kept of it is a tenth as large. All that is there when the database is free
 * goes into one transaction, and large ones are cheaper; see docs/performance.md.
 */
const MAX_BUFFERED_BYTES = 40 * 1024 * 1024;
const INITIAL_BLOCKS = 100;

/** The ranges that the index lacks, read and vouched for: those of a long way to go, several at a time, or the newest one. */
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
