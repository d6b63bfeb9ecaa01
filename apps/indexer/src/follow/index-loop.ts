/**
 * The loop that keeps the index level with the chain, from the first block to the newest: the same for backfill and follow.
 *
 * Each turn: ask the chain for its heads, decide (next-step.ts), then read on, undo, or wait. Only verified ranges whose parent is
 * the indexed head are written, each with the head in one transaction, so a crash at any moment leaves a whole index.
 */
import { type ChainReader, type LogSource, type RangeAnswer, type Tip } from '#libs/chain';
import { RetryableError } from '#libs/domain';
import { type Clock, type Logger, inSpan } from '#libs/platform';
import { type IndexWriter } from '../apply/index-writer.js';
import { type RangeApplier } from '../apply/range-applier.js';
import { type RangeSizer } from '#libs/chain';
import { type BlockRange, streamRanges } from '#libs/chain';
import { joinRanges, type ReadRange } from '../backfill/read-range.js';
import { type IndexerMetrics } from '../health/indexer.metrics.js';
import { type Doubts } from '../verify/doubts.js';
import { type RangeVerifier } from '../verify/range-verifier.js';
import { type WalletCheck } from '../verify/wallet-check.js';
import { findFork } from './fork.js';
import { HeadsReader } from './heads-reader.js';
import { type IndexStatus } from './index-status.js';
import { type ChainHeads, finalisedOf, nextStep } from './next-step.js';
import { checkSpan, rangeSpan } from './index-spans.js';
import { pollWaitMs } from './poll-wait.js';

export interface IndexLoopParts {
  readonly reader: ChainReader;
  readonly source: Pick<LogSource, 'tip'>;
  readonly verifier: RangeVerifier;
  readonly writer: IndexWriter;
  readonly applier: RangeApplier;
  readonly walletCheck: WalletCheck;
  readonly doubts: Doubts;
  readonly sizer: RangeSizer;
  readonly status: IndexStatus;
  readonly metrics: IndexerMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ranges that are worth fetching at once. */
  readonly concurrency: () => number;
  /** Bytes of answers fetched ahead of the database. */
  readonly maxBufferedBytes: number;
  /** How often the chain is asked for new blocks, at the most. */
  readonly pollIntervalMs: number;
}

/** One request's answer at the chain's tip, with new blocks in it. */
interface TipWithBlocks extends Pick<Tip, 'total' | 'endpoint' | 'finalised'> {
  readonly answer: RangeAnswer;
  readonly heads: ChainHeads;
}

/** Whether the index is now level with the chain as it was when the turn began. */
export type TurnOutcome = 'level' | 'more';

export class IndexLoop {
  /** The last turn left the index level: what is new since is asked for in one request. */
  private isAtTip = false;
  private hasNewBlocks = false;
  private readonly heads: HeadsReader;

  constructor(private readonly parts: IndexLoopParts) {
    this.heads = new HeadsReader(parts);
  }

  /** How long to wait before the next turn where this one left the index level. */
  get waitMs(): number {
    const { writer, clock, pollIntervalMs } = this.parts;
    return pollWaitMs({
      pollIntervalMs,
      hasNewBlocks: this.hasNewBlocks,
      blocks: writer.rememberedBlocks(),
      nowMs: clock.nowMs(),
    });
  }

  /**
   * One turn.
   * @throws PermanentError where only a person can help; RetryableError for all that may pass
   */
  async turn(signal: AbortSignal): Promise<TurnOutcome> {
    const isAtTip = this.isAtTip;
    this.isAtTip = false;
    try {
      const outcome = await this.step(isAtTip, signal);
      this.isAtTip = outcome === 'level';
      return outcome;
    } finally {
      await this.parts.writer.settled();
    }
  }

  private async step(isAtTip: boolean, signal: AbortSignal): Promise<TurnOutcome> {
    const { writer, status, logger } = this.parts;
    if (!writer.isOpen) await writer.reload();
    const tip = isAtTip ? await this.readTip(signal) : undefined;
    const heads = tip && !this.needsOther(tip) ? tip.heads : await this.heads.read();
    signal.throwIfAborted();
    this.progressed(heads);
    const step = nextStep(writer.indexed, heads);
    this.hasNewBlocks = step.kind === 'advance';
    switch (step.kind) {
      case 'advance':
        return tip?.answer
          ? this.advanceAtTip({ ...tip, answer: tip.answer }, signal)
          : this.advance(step.to, heads, signal);
      case 'wait':
        return this.settle(heads, signal);
      case 'behind':
        status.trouble = this.heads.apart;
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

  /** Where many blocks are missing, or none come for long, another provider is asked as well. */
  private needsOther({ answer, latest }: Tip): boolean {
    const { head } = this.parts.writer;
    if (answer || !this.heads.hasOther) return false;
    return latest.number > head.number || this.heads.isDue(head);
  }

  /** Undefined where blocks are in doubt, or the final block cannot be told: then the chain is asked as at a start. */
  private async readTip(
    signal: AbortSignal,
  ): Promise<(Tip & Pick<TipWithBlocks, 'heads'>) | undefined> {
    const { reader, source, verifier, writer, doubts } = this.parts;
    const { finality } = reader;
    const { hasOther } = this.heads;
    if (doubts.at(writer.head.number + 1n)) return undefined;
    const tip = await source.tip(
      {
        head: writer.head,
        tag: finality.kind === 'tag' ? finality.tag : undefined,
        total: hasOther ? undefined : await reader.totalCalls(),
      },
      verifier.fetchOptions(false, signal),
    );
    // By depth, the final block is one that is remembered, or not newer than the one before.
    const finalised =
      finality.kind === 'tag'
        ? (this.heads.finalAt(tip, undefined) ?? writer.state.finalised)
        : (writer.blockAt(tip.latest.number - finality.blocks) ?? writer.state.finalised);
    return finalised && { ...tip, heads: { latest: tip.latest, finalised } };
  }

  private async advanceAtTip(
    { answer, total, heads, ...told }: TipWithBlocks,
    signal: AbortSignal,
  ): Promise<TurnOutcome> {
    const { reader, verifier, writer } = this.parts;
    this.heads.apart = undefined;
    const tip = { newestTotal: total, indexedTotal: writer.state.total };
    const read = await inSpan(rangeSpan('read', answer), () =>
      verifier.vouch(answer, { isFinal: false, signal, tip }),
    );
    const { other } = read;
    // What the other provider said of the final block came with its second opinion; without one, one provider's word counts.
    const agreed = other ? this.heads.finalAt(told, other) : told.finalised;
    const isTag = reader.finality.kind === 'tag';
    const known = isTag && agreed ? { ...heads, finalised: agreed } : heads;
    return (await this.take(read, known, signal)) ? this.settle(known, signal) : 'more';
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
      if (!(await this.take(read, heads, signal))) return 'more';
    }
    return this.settle(heads, signal);
  }

  /** Writes what follows the indexed head; false where the index went back instead. */
  private async take(read: ReadRange, heads: ChainHeads, signal: AbortSignal): Promise<boolean> {
    const { writer, applier } = this.parts;
    const { parentHash } = read.answer;
    if (parentHash !== undefined && parentHash !== writer.head.hash) {
      await this.reorganise();
      return false;
    }
    const isApplied = await inSpan(rangeSpan('write', read.answer), () =>
      applier.apply(read, heads, signal),
    );
    if (isApplied) this.progressed(heads);
    return isApplied;
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

  /** The index is level with the chain: wallets are checked, then it may be called synced. */
  private async settle(heads: ChainHeads, signal: AbortSignal): Promise<TurnOutcome> {
    const { writer, verifier, applier, walletCheck, status } = this.parts;
    await writer.settled();
    const finalised = finalisedOf(writer.indexed, heads);
    if (finalised?.number !== writer.state.finalised?.number)
      await writer.note({ finalised, synced: false });
    if (walletCheck.due(writer)) {
      const result = await inSpan(checkSpan, () => walletCheck.run(writer, signal));
      if (result.kind === 'roll-back') {
        await applier.undo(result.to, 'repair');
        return 'more';
      }
      // Before what the wallets vouch for is noted: the total may lead back to the first block.
      if (!writer.synced && !(await applier.agreesInAll())) return 'more';
      const { verifiedNumber } = result;
      if (verifiedNumber !== undefined)
        await writer.note({ finalised, verifiedNumber, synced: false });
    }
    if (!writer.synced) {
      await writer.note({ finalised, synced: true });
      await applier.warnIfNoneCounts();
    }
    verifier.hasComparedWallets = true;
    if (writer.state.halted) await writer.resume();
    this.progressed(heads);
    status.trouble = this.heads.apart;
    return 'level';
  }

  private async reorganise(): Promise<void> {
    const { reader, writer, applier } = this.parts;
    await writer.settled();
    const fork = await findFork(writer.rememberedBlocks(), (numbers) => reader.headers(numbers));
    if (fork.number === writer.head.number)
      throw new RetryableError(
        'FORKED_ANSWER',
        `A node answered for another fork than the one with block ${fork.number} (${fork.hash})`,
      );
    await applier.undo(fork, 'reorganisation');
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
