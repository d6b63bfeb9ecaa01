/**
 * The loop that keeps the index level with the chain, from the first block to the newest: the same for backfill and follow.
 *
 * Each turn: ask the chain for its heads, decide (next-step.ts), then read on, undo, or wait. Only verified ranges whose parent is
 * the indexed head are written, each with the head in one transaction, so a crash at any moment leaves a whole index.
 */
import { type ChainReader, type RangeAnswer } from '#libs/chain';
import { type BlockRef, NegativeBalanceError, RetryableError } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { inSpan } from '#libs/telemetry';
import { type IndexFacts, type IndexWriter } from '../apply/index-writer.js';
import { type BackfillProgress } from '../backfill/backfill-progress.js';
import { type RangeSizer } from '../backfill/range-sizer.js';
import { type BlockRange, streamRanges } from '../backfill/range-stream.js';
import { joinRanges, type ReadRange } from '../backfill/read-range.js';
import { type IndexerMetrics } from '../health/indexer.metrics.js';
import { type Doubts } from '../verify/doubts.js';
import { type RangeVerifier } from '../verify/range-verifier.js';
import { doubtSinceVerified, rollBackToVerified } from '../verify/unverified-base.js';
import { type WalletCheck } from '../verify/wallet-check.js';
import { findFork } from './fork.js';
import { type IndexStatus } from './index-status.js';
import { type ChainHeads, finalisedOf, nextStep } from './next-step.js';
import { checkSpan, rangeSpan, rollbackSpan } from './index-spans.js';

export interface IndexLoopParts {
  readonly reader: ChainReader;
  readonly verifier: RangeVerifier;
  readonly writer: IndexWriter;
  readonly walletCheck: WalletCheck;
  readonly doubts: Doubts;
  readonly sizer: RangeSizer;
  readonly status: IndexStatus;
  readonly progress: BackfillProgress;
  readonly metrics: IndexerMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ranges that are worth fetching at once. */
  readonly concurrency: () => number;
  /** Bytes of answers fetched ahead of the database. */
  readonly maxBufferedBytes: number;
  /** The first block that is indexed. */
  readonly firstBlock: bigint;
}

/** Whether the index is now level with the chain as it was when the turn began. */
export type TurnOutcome = 'level' | 'more';

export class IndexLoop {
  constructor(private readonly parts: IndexLoopParts) {}

  /**
   * One turn.
   * @throws PermanentError where only a person can help; RetryableError for all that may pass
   */
  async turn(signal: AbortSignal): Promise<TurnOutcome> {
    try {
      return await this.step(signal);
    } finally {
      await this.parts.writer.settled();
    }
  }

  private async step(signal: AbortSignal): Promise<TurnOutcome> {
    const { reader, writer, status, logger } = this.parts;
    if (!writer.isOpen) await writer.reload();
    const heads = await reader.heads();
    signal.throwIfAborted();
    this.progressed(heads);
    const step = nextStep(this.indexed(), heads);
    switch (step.kind) {
      case 'advance':
        return this.advance(step.to, heads, signal);
      case 'wait':
        return this.settle(heads);
      case 'behind':
        logger.debug({ blocks: step.by }, 'The node is behind the index: waiting');
        return 'level';
      case 'frozen':
        status.trouble = `the node's newest block ${step.latest} is below the finalised block ${step.finalised}`;
        logger.error(step, 'The node does not know the finalised block: frozen until it does');
        return 'level';
      case 'reorganised':
        await this.reorganise();
        return 'more';
    }
  }

  private async advance(to: bigint, heads: ChainHeads, signal: AbortSignal): Promise<TurnOutcome> {
    const { writer, verifier, sizer, doubts, concurrency, maxBufferedBytes } = this.parts;
    if (!(await this.isHeadOnChain(heads))) {
      await this.reorganise();
      return 'more';
    }
    const final = heads.finalised.number;
    const ranges = streamRanges<ReadRange>(
      { from: writer.head.number + 1n, to },
      {
        fetch: (range, fetchSignal) =>
          inSpan(rangeSpan('read', range), () =>
            verifier.read(range, { isFinal: range.to <= final, signal: fetchSignal }),
          ),
        sizer,
        concurrency,
        maxBufferedBytes,
        cut: (range) => doubts.cut(cutAt(final, range)),
        join: joinRanges,
      },
      signal,
    );
    for await (const read of ranges) {
      const { parentHash } = read.answer;
      if (parentHash !== undefined && parentHash !== writer.head.hash) {
        await this.reorganise();
        return 'more';
      }
      const isApplied = await inSpan(rangeSpan('write', read.answer), () =>
        this.apply(read, heads, signal),
      );
      if (!isApplied) return 'more';
      this.progressed(heads);
    }
    return this.settle(heads);
  }

  /**
   * Final blocks are read without being linked to the ones before them. Where the head was not final when it was indexed, the chain
   * may have left it since.
   */
  private async isHeadOnChain(heads: ChainHeads): Promise<boolean> {
    const { writer, reader } = this.parts;
    const { head, state } = writer;
    if (head.number >= heads.finalised.number || state.finalised?.number === head.number)
      return true;
    const [header] = await reader.headers([head.number]);
    return header?.hash === head.hash;
  }

  /** Writes a range that agrees with the contract; returns false where the index itself was rolled back instead. */
  private async apply(read: ReadRange, heads: ChainHeads, signal: AbortSignal): Promise<boolean> {
    const { reader, writer, doubts, metrics, progress, status } = this.parts;
    const agreed = await this.agreed(read, heads, signal);
    if (!agreed) return false;
    const { answer, contractTotal, isConfirmed } = agreed;
    if (contractTotal === undefined && reader.hasTotal && answer.to > heads.finalised.number)
      throw new RetryableError(
        'UNVERIFIED_HEAD',
        `No endpoint has the contract's state at block ${answer.to}, so its events cannot be verified`,
      );
    requireFinalisedOnChain(answer, heads);
    const isVerified = contractTotal !== undefined || isConfirmed;
    const changes = await this.write(answer, {
      finalised: finalisedOf({ ...this.indexed(), head: answer.head }, heads),
      verifiedNumber: isVerified ? answer.to : undefined,
      synced: false,
    });
    if (changes === undefined) return false;
    doubts.settle(writer.state.verifiedNumber ?? -1n);
    status.trouble = undefined;
    metrics.applied(answer, changes);
    progress.applied(answer, heads.latest.number);
    return true;
  }

  /** @returns how many balances change; undefined where one would fall below zero and the index was rolled back instead */
  private async write(answer: RangeAnswer, facts: IndexFacts): Promise<number | undefined> {
    const { writer } = this.parts;
    try {
      return await writer.apply(answer, facts);
    } catch (error) {
      if (!(error instanceof NegativeBalanceError)) throw error;
      const to = await doubtSinceVerified(this.parts, writer.state, answer);
      if (!to) throw error;
      await this.undo(to, 'repair');
      return undefined;
    }
  }

  /** The range with events that add up to the contract's total; undefined where the index did not, and was rolled back. */
  private async agreed(
    read: ReadRange,
    heads: ChainHeads,
    signal: AbortSignal,
  ): Promise<ReadRange | undefined> {
    const { writer, verifier } = this.parts;
    const { answer, contractTotal } = read;
    const { state } = writer;
    if (contractTotal === undefined || contractTotal === state.total + read.delta) return read;
    const to = await rollBackToVerified(this.parts, state, { answer, contractTotal });
    if (to) {
      await this.undo(to, 'repair');
      return undefined;
    }
    return verifier.mend(read, state.total, {
      isFinal: answer.to <= heads.finalised.number,
      signal,
    });
  }

  /** The index is level with the chain: wallets are checked, then it may be called synced. */
  private async settle(heads: ChainHeads): Promise<TurnOutcome> {
    const { writer, walletCheck, status } = this.parts;
    await writer.settled();
    const finalised = finalisedOf(this.indexed(), heads);
    if (finalised?.number !== writer.state.finalised?.number)
      await writer.note({ finalised, synced: false });
    if (walletCheck.due(writer)) {
      const result = await inSpan(checkSpan, () => walletCheck.run(writer));
      if (result.kind === 'roll-back') {
        await this.undo(result.to, 'repair');
        return 'more';
      }
      const { verifiedNumber } = result;
      if (verifiedNumber !== undefined)
        await writer.note({ finalised, verifiedNumber, synced: false });
    }
    if (!writer.synced) await writer.note({ finalised, synced: true });
    if (writer.state.halted) await writer.resume();
    this.progressed(heads);
    status.trouble = undefined;
    return 'level';
  }

  private async reorganise(): Promise<void> {
    const { reader, writer } = this.parts;
    await writer.settled();
    const fork = await findFork(writer.rememberedBlocks(), (numbers) => reader.headers(numbers));
    if (fork.number === writer.head.number)
      throw new RetryableError(
        'FORKED_ANSWER',
        `A node answered for another fork than the one with block ${fork.number} (${fork.hash})`,
      );
    await this.undo(fork, 'reorganisation');
  }

  private async undo(to: BlockRef, why: 'reorganisation' | 'repair'): Promise<void> {
    const { writer, metrics, logger } = this.parts;
    const depth = writer.head.number - to.number;
    const { changes, wallets } = await inSpan(rollbackSpan(to, { why, depth }), () =>
      writer.rollback(to),
    );
    metrics.rolledBack(why, Number(depth));
    logger.warn({ why, toBlock: to.number, depth, changes, wallets }, 'Rolled back');
  }

  private indexed(): Parameters<typeof nextStep>[0] {
    const { writer } = this.parts;
    return {
      head: writer.head,
      finalised: writer.state.finalised,
      hashAt: (number) => writer.hashAt(number),
    };
  }

  private progressed(heads: ChainHeads): void {
    const { status, writer, metrics, clock } = this.parts;
    const state = writer.stored;
    status.progressAtMs = clock.nowMs();
    status.head = state.head;
    status.finalised = state.finalised;
    status.verifiedNumber = state.verifiedNumber;
    status.synced = writer.synced;
    status.chainHeadNumber = heads.latest.number;
    if (!writer.state.halted) status.phase = writer.synced ? 'following' : 'backfilling';
    metrics.level(status);
  }
}

/** No range holds final blocks and others: the two are read in different ways. */
function cutAt(final: bigint, range: BlockRange): BlockRange {
  return range.from <= final && final < range.to ? { from: range.from, to: final } : range;
}

/** The range and the finalised block must be of one chain, or one of the two came from a node on another fork. */
function requireFinalisedOnChain(answer: RangeAnswer, { finalised }: ChainHeads): void {
  const header = answer.headers.find(({ number }) => number === finalised.number);
  if (header && header.hash !== finalised.hash)
    throw new RetryableError(
      'FORKED_ANSWER',
      `Block ${finalised.number} is ${header.hash} in one answer and finalised as ${finalised.hash} in another`,
    );
}
