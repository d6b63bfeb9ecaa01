/**
 * Reads ranges and verifies them before they are written (docs/decisions/0003), as the mode in force demands.
 *
 * States of a range: read -> agreed (another provider reports the same, or the same provider does a second time in the
 * mode `wallets`) -> settled (the sum of the events matches the contract's total, where the contract has one). A range
 * that stays in doubt is never written.
 */
import {
  AllEndpointsFailedError,
  ANSWER_BYTES,
  askFigure,
  type BlockRange,
  type ChainReader,
  type FetchOptions,
  type FigureOptions,
  type LogSource,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  type RangeAnswer,
  RangeSizer,
  type RpcPool,
  streamRanges,
  unlessOutage,
  type FigureByEndpoint,
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
  /** Every block of the range is final, so that no reorganisation can affect it. */
  readonly isFinal: boolean;
  readonly signal: AbortSignal;
}

interface VouchOptions extends ReadOptions {
  /** How a suspect range is read again; undefined for other ranges. */
  readonly suspect?: SuspectRange | undefined;
  readonly tip?: {
    /**
     * The contract's total from the request that brought the range: at the range's end, or at a slightly newer block.
     */
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
    // With a second provider, the total must come from there and not from the endpoint that gives the logs.
    const isTotalWanted = isFinal && policy.comparesTotal(true) && !policy.hasOtherProvider;
    const total = isTotalWanted ? await reader.totalCalls() : undefined;
    const options = { ...policy.fetchOptions(isFinal, signal), total };
    const suspect = this.suspects.covering(range.from);
    const answer = suspect
      ? await this.readAgain(range, suspect, options)
      : await source.fetch(range, options);
    return this.vouch(answer, { isFinal, signal, suspect });
  }

  /** @throws the errors of `read` */
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
      isConfirmed: agreed.other !== undefined,
      isSuspect: suspect !== undefined,
      bytes,
    };
  }

  /** The contract's total at the end of an answer. Comes from another provider than the logs, if one answers. */
  private async totalOf(
    { answer, other }: Agreement,
    delta: bigint,
    { isFinal, signal, tip }: VouchOptions,
  ): Promise<FigureByEndpoint<bigint> | undefined> {
    const told = other ? other.total : (tip?.newestTotal ?? answer.total);
    // At the chain's head, the total may belong to a block that came in between. Where it does not fit, the total is
    // read again by the hash of the last block.
    const isOfItsEnd = isFinal || told === (tip?.indexedTotal ?? 0n) + delta;
    if (told !== undefined && isOfItsEnd) {
      return { figure: told, endpoint: other?.endpoint ?? answer.endpoint };
    }
    const ask = (options: FigureOptions) =>
      askFigure((said) => this.reader.stakeTotal(answer.head, { ...options, ...said, signal }));
    const patient = { patienceMs: Infinity };
    if (!other) return ask(patient);
    const avoid = ownProvider(answer.endpoint, this.source.endpoints);
    const byOther =
      this.policy.mode === 'two'
        ? await ask({ ...patient, avoid })
        : await unlessOutage(ask({ avoid, patienceMs: OUTAGE_PATIENCE_MS }));
    // The other provider confirms the events, but may be out or lack the state of the block.
    return byOther ?? ask(patient);
  }

  /**
   * Reads a suspect range, from another endpoint if one answers, else from any, by logs or receipts as the suspect
   * range says.
   */
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
 * Bytes of answers fetched ahead of the database, as received; their parsed form is a tenth as large. When the database
 * is free, all waiting ranges are joined into one transaction, and large transactions are cheaper: see
 * docs/performance.md.
 */
const MAX_BUFFERED_BYTES = 20 * 1024 * 1024;
const INITIAL_BLOCKS = 100;

/**
 * Source of the ranges that the index lacks, read and verified: several ranges in parallel during a sync, or the newest
 * one at the chain's head.
 */
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

  /**
   * Ranges in ascending order without gaps.
   * @param final number of the newest final block
   */
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

/** A span for reading or writing a range, both ends included. */
export function rangeSpan(what: 'read' | 'write', { from, to }: BlockRange): SpanStart {
  return {
    name: `${what} range`,
    attributes: { 'lowmark.from_block': Number(from), 'lowmark.to_block': Number(to) },
  };
}

/** Ends a range at the finalised block, because final blocks and newer ones are read in different ways. */
function cutAt(final: bigint, range: BlockRange): BlockRange {
  return range.from <= final && final < range.to ? { from: range.from, to: final } : range;
}
