/**
 * Reads the ranges that the index lacks, and asks the witnesses what they know of them (docs/decisions/0003). What they
 * contradict is never written. What none of them vouches for yet may be (contract-total.ts).
 */
import {
  AllEndpointsFailedError,
  ANSWER_BYTES,
  type BlockRange,
  type ChainReader,
  type FetchOptions,
  type LogSource,
  RangeSizer,
  type ReadRange,
  type RpcPool,
  streamRanges,
} from '#libs/chain';
import { type IndexState } from '#libs/db';
import { type NegativeBalanceError, RetryableError } from '#libs/domain';
import { inSpan, type Logger, type SpanStart } from '#libs/platform';
import { type TipWithBlocks } from './heads-reader.js';
import { type IndexOptions, verifiedUpTo } from '../settings/index-options.js';
import { type IndexWriter, RollBackError } from '../write/index-writer.js';
import { type ContractTotal } from './contract-total.js';
import { joinRanges } from './ranges.js';
import { type SecondRead } from './second-read.js';
import { type SuspectRange, type SuspectRanges } from './suspect-ranges.js';
import { type WalletBalances } from './wallet-balances.js';
import { type Witness, type Witnesses, type WitnessQuestion } from './witnesses.js';

/**
 * Bytes of answers fetched ahead of the database, as received; their parsed form is a tenth as large. When the database
 * is free, all waiting ranges are joined into one transaction, and large transactions are cheaper: see
 * docs/performance.md.
 */
const MAX_BUFFERED_BYTES = 20 * 1024 * 1024;
const INITIAL_BLOCKS = 100;

export class Vouching {
  private readonly sizer: RangeSizer;
  private readonly witnessesOfRanges: readonly Witness[];

  constructor(
    private readonly pool: RpcPool,
    private readonly reader: ChainReader,
    private readonly source: LogSource,
    private readonly witnesses: Witnesses,
    private readonly suspects: SuspectRanges,
    secondRead: SecondRead,
    private readonly total: ContractTotal,
    private readonly balances: WalletBalances,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {
    this.witnessesOfRanges = [secondRead, total];
    this.sizer = new RangeSizer({
      targetBytes: ANSWER_BYTES,
      maxBlocks: options.maxRangeBlocks,
      initialBlocks: INITIAL_BLOCKS,
    });
  }

  /**
   * The missing blocks in ascending ranges without gaps. Several ranges are read in parallel.
   * @param final number of the newest final block
   * @throws AllEndpointsFailedError, EventsInDoubtError
   */
  stream(
    missing: BlockRange,
    final: bigint,
    signal: AbortSignal,
  ): AsyncGenerator<ReadRange, void, undefined> {
    const { suspects } = this;
    const isSuspect = ({ from }: ReadRange): boolean => suspects.covering(from) !== undefined;
    return streamRanges<ReadRange>(
      missing,
      {
        fetch: (range, fetchSignal) =>
          inSpan(rangeSpan('read', range), () => this.read(range, range.to <= final, fetchSignal)),
        sizer: this.sizer,
        concurrency: () => this.pool.parallelism(),
        maxBufferedBytes: MAX_BUFFERED_BYTES,
        cut: (range) => suspects.cut(cutAt(final, range)),
        join: (earlier, later) =>
          isSuspect(earlier) || isSuspect(later) ? undefined : joinRanges(earlier, later),
      },
      signal,
    );
  }

  /**
   * Vouches for the newest blocks, which one request brought.
   * @param indexedTotal the index's total before these blocks
   * @throws the errors of `stream`
   */
  confirmTip(
    { answer, total, endpoint }: TipWithBlocks,
    indexedTotal: bigint,
    signal: AbortSignal,
  ): Promise<ReadRange> {
    const { head: block } = answer;
    const range = { ...answer, totals: total === undefined ? [] : [{ block, total, endpoint }] };
    const wantsTotal = this.witnesses.comparesTotal(false);
    const question = { isFinal: false, isByReceipts: false, wantsTotal, indexedTotal, signal };
    return inSpan(rangeSpan('read', answer), () => this.confirm(range, question));
  }

  /**
   * Compares a range that is about to be written with the contract's total.
   * @returns the range, repaired if it was wrong
   * @throws RollBackError, and the errors of ContractTotal.check
   */
  check(range: ReadRange, { state, signal }: IndexWriter, final: bigint): Promise<ReadRange> {
    return this.total.check(range, state, { final, signal });
  }

  /** Whether the index counts as verified up to the end of a range. @param state the index before the range */
  isVouchedFor(range: ReadRange, state: IndexState): boolean {
    return this.witnesses.vouchFor(range, verifiedUpTo(state, this.options));
  }

  /** Forgets suspect ranges that are verified by now. */
  forgetUpTo(verifiedNumber = -1n): void {
    this.suspects.forgetUpTo(verifiedNumber);
  }

  /**
   * A range made a balance negative.
   * @throws RollBackError if blocks of the index are not verified, so that they may lack events; the errors of
   * WalletBalances.explain
   */
  async requireVerified(
    writer: IndexWriter,
    range: ReadRange,
    error: NegativeBalanceError,
  ): Promise<void> {
    const { state, signal } = writer;
    // With one provider, another read of all blocks by logs would leave out the same events.
    if (this.witnesses.areBalances) await this.balances.explain(error, writer);
    const to = await this.total.suspectUnverified(state, range, signal);
    if (to) throw new RollBackError(to, 'repair');
  }

  /**
   * If two providers must report the same, blocks that were indexed in another mode and that nothing vouches for yet are
   * read again.
   * @throws RollBackError
   */
  async requireTwoProviders(state: IndexState): Promise<void> {
    const verified = verifiedUpTo(state, this.options);
    if (!this.witnesses.mustBeTwo || verified >= state.head.number) return;
    const [to] = await this.reader.headers([verified]);
    if (to === undefined)
      throw new RetryableError('NO_HEADER', `No endpoint has the header of block ${verified}`);
    this.logger.warn(
      { fromBlock: verified + 1n, toBlock: state.head.number },
      'One provider alone reported these blocks: reading them again from two',
    );
    throw new RollBackError(to, 'repair');
  }

  /**
   * Makes the comparisons that are due while the index is level with the chain.
   * @returns the newest block that is verified by this
   * @throws RollBackError, and the errors of WalletBalances.check and ContractTotal.checkHead
   */
  async checkLevel(writer: IndexWriter): Promise<bigint | undefined> {
    const { balances, witnesses } = this;
    let verifiedNumber: bigint | undefined;
    if (balances.isDue(writer)) {
      verifiedNumber = await inSpan({ name: 'wallet check' }, () => balances.check(writer));
      // The total is compared before the wallets' `verifiedNumber` is stored: a difference must still be able to roll
      // the index back to the first block.
      if (!writer.synced) await this.total.checkHead(writer.state, writer.signal);
    }
    witnesses.hasComparedWallets = true;
    return verifiedNumber;
  }

  /** Forgets what was read again, after a halt: the endpoints may have been repaired since. */
  startAfresh(): void {
    this.balances.forgetReadAgain();
  }

  private async read(range: BlockRange, isFinal: boolean, signal: AbortSignal): Promise<ReadRange> {
    const { source, reader, witnesses } = this;
    const wantsTotal = isFinal && witnesses.comparesTotal(true);
    // With a second provider, the total must come from there and not from the endpoint that gives the logs.
    const isOwnTotal = wantsTotal && !witnesses.hasOtherProvider;
    const total = isOwnTotal ? await reader.totalCalls() : undefined;
    const options = { ...witnesses.fetchOptions(isFinal, signal), total };
    const suspect = this.suspects.covering(range.from);
    const read = suspect
      ? await this.readAgain(range, suspect, options)
      : await source.fetch(range, options);
    const isByReceipts = suspect?.by === 'receipts';
    return this.confirm(read, { isFinal, signal, wantsTotal, isByReceipts });
  }

  private async confirm(read: ReadRange, question: WitnessQuestion): Promise<ReadRange> {
    let range = read;
    for (const witness of this.witnessesOfRanges) range = await witness.confirm(range, question);
    return range;
  }

  /**
   * Reads a suspect range, from another endpoint if one answers, else from any, by logs or receipts as the suspect
   * range says.
   */
  private async readAgain(
    range: BlockRange,
    { avoid, by }: SuspectRange,
    options: FetchOptions,
  ): Promise<ReadRange> {
    try {
      return await this.source.fetch(range, { ...options, avoid, by });
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError) || avoid.length === 0) throw error;
      return this.source.fetch(range, { ...options, by });
    }
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
