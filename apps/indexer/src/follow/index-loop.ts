/**
 * The loop that keeps the index level with the chain, from the first block to the newest: the same for backfill and follow.
 *
 * Each turn: ask the chain for its heads, decide (next-step.ts), then read on, undo, or wait. Only verified ranges whose parent is
 * the indexed head are written, each with the head in one transaction, so a crash at any moment leaves a whole index.
 */
import {
  AllEndpointsFailedError,
  type ChainReader,
  type LogSource,
  type RangeAnswer,
} from '#libs/chain';
import { type BlockRef, RetryableError } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { inSpan } from '#libs/telemetry';
import { type IndexWriter } from '../apply/index-writer.js';
import { type Doubt, type Doubts } from '../audit/doubts.js';
import { type Reconciler, type Resolution } from '../audit/reconciler.js';
import { totalAt } from '../audit/total-mismatch.js';
import { type WalletCheck } from '../audit/wallet-check.js';
import { type BackfillProgress } from '../backfill/backfill-progress.js';
import { type RangeSizer } from '../backfill/range-sizer.js';
import { type BlockRange, streamRanges } from '../backfill/range-stream.js';
import { joinRanges, type ReadRange } from '../backfill/read-range.js';
import { type IndexerMetrics } from '../health/indexer.metrics.js';
import { findFork } from './fork.js';
import { type IndexStatus } from './index-status.js';
import { type ChainHeads, finalisedOf, nextStep } from './next-step.js';
import { checkSpan, rangeSpan, rollbackSpan } from './index-spans.js';

export interface IndexLoopParts {
  readonly reader: ChainReader;
  readonly source: LogSource;
  readonly writer: IndexWriter;
  readonly reconciler: Reconciler;
  readonly walletCheck: WalletCheck;
  readonly doubts: Doubts;
  readonly sizer: RangeSizer;
  readonly status: IndexStatus;
  readonly progress: BackfillProgress;
  readonly metrics: IndexerMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ranges in flight at once. */
  readonly concurrency: number;
  /** Bytes of answers fetched ahead of the database. */
  readonly maxBufferedBytes: number;
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
    const { writer, sizer, doubts, concurrency, maxBufferedBytes } = this.parts;
    const ranges = streamRanges<ReadRange>(
      { from: writer.head.number + 1n, to },
      {
        fetch: (range, fetchSignal) =>
          inSpan(rangeSpan('read', range), () => this.read(range, fetchSignal)),
        sizer,
        concurrency,
        maxBufferedBytes,
        cut: doubts.cut,
        join: joinRanges,
      },
      signal,
    );
    for await (const read of ranges) {
      if (read.answer.first.parentHash !== writer.head.hash) {
        await this.reorganise();
        return 'more';
      }
      const isApplied = await inSpan(rangeSpan('write', read.answer), () =>
        this.apply(read, heads),
      );
      if (!isApplied) return 'more';
      this.progressed(heads);
    }
    return this.settle(heads);
  }

  private async read(range: BlockRange, signal: AbortSignal): Promise<ReadRange> {
    const { source, reader, doubts } = this.parts;
    const doubt = doubts.at(range.from);
    const answer = doubt
      ? await this.readAgain(range, doubt, signal)
      : await source.fetch(range, { signal });
    return {
      answer,
      delta: totalAt(0n, answer.blocks, answer.to),
      contractTotal: await reader.stakeTotal(answer.head),
      apart: doubt !== undefined,
      bytes: answer.bytes,
    };
  }

  /** From another endpoint where one answers; else from the same one, in the other way. */
  private async readAgain(
    range: BlockRange,
    { avoid, by }: Doubt,
    signal: AbortSignal,
  ): Promise<RangeAnswer> {
    const { source } = this.parts;
    try {
      return await source.fetch(range, { avoid, by, signal });
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError) || avoid.length === 0) throw error;
      return source.fetch(range, { by, signal });
    }
  }

  /** Writes a range that agrees with the contract; returns false where it has to be read again. */
  private async apply(read: ReadRange, heads: ChainHeads): Promise<boolean> {
    const { reader, writer, doubts, reconciler, metrics, progress, status } = this.parts;
    const { answer, contractTotal } = read;
    const { state } = writer;
    if (contractTotal !== undefined && contractTotal !== state.total + read.delta) {
      await this.follow(await reconciler.resolve({ state, answer, contractTotal }));
      return false;
    }
    if (contractTotal === undefined && reader.hasTotal && answer.to > heads.finalised.number)
      throw new RetryableError(
        'UNVERIFIED_HEAD',
        `No endpoint has the contract's state at block ${answer.to}, so its events cannot be verified`,
      );
    requireFinalisedOnChain(answer, heads);
    const changes = await writer.apply(answer, {
      finalised: finalisedOf({ ...this.indexed(), head: answer.head }, heads),
      verified: contractTotal !== undefined,
      synced: false,
    });
    doubts.settle(writer.state.verifiedNumber ?? -1n);
    status.trouble = undefined;
    metrics.applied(answer, changes);
    progress.applied(answer, heads.latest.number);
    return true;
  }

  /** The index is level with the chain: wallets are checked, then it may be called synced. */
  private async settle(heads: ChainHeads): Promise<TurnOutcome> {
    const { writer, walletCheck, status } = this.parts;
    await writer.settled();
    const finalised = finalisedOf(this.indexed(), heads);
    if (finalised?.number !== writer.state.finalised?.number)
      await writer.note({ finalised, verified: false, synced: false });
    if (walletCheck.due(finalised)) {
      const to = await inSpan(checkSpan, () => walletCheck.run(writer));
      if (to) {
        await this.follow({ kind: 'roll-back', to });
        return 'more';
      }
    }
    if (!writer.synced) await writer.note({ finalised, verified: false, synced: true });
    if (writer.state.halted) await writer.resume();
    this.progressed(heads);
    status.trouble = undefined;
    return 'level';
  }

  private async follow(resolution: Resolution): Promise<void> {
    if (resolution.kind === 'roll-back') await this.undo(resolution.to, 'repair');
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
    status.phase = writer.synced ? 'following' : 'backfilling';
    metrics.level(status);
  }
}

/** The range and the finalised block must be of one chain, or one of the two came from a node on another fork. */
function requireFinalisedOnChain(answer: RangeAnswer, { finalised }: ChainHeads): void {
  const header = answer.headers[Number(finalised.number - answer.from)];
  if (header && finalised.number >= answer.from && header.hash !== finalised.hash)
    throw new RetryableError(
      'FORKED_ANSWER',
      `Block ${finalised.number} is ${header.hash} in one answer and finalised as ${finalised.hash} in another`,
    );
}
