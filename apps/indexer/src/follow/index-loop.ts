/**
 * The loop that keeps the index level with the chain, from the first block to the newest: the same for backfill and follow.
 *
 * Each turn: ask the chain for its heads, decide (next-step.ts), then read on, undo, or wait. Only verified ranges whose parent is
 * the indexed head are written, each with the head in one transaction, so a crash at any moment leaves a whole index.
 */
import { type ChainReader } from '#libs/chain';
import { type BlockRef, RetryableError } from '#libs/domain';
import { type Clock, inSpan, type Logger } from '#libs/platform';
import { type IndexWriter } from '../apply/index-writer.js';
import { findFork, type RangeApplier } from '../apply/range-applier.js';
import { type IndexOptions } from '../index-options.js';
import { type RangeSource, rangeSpan } from '../verify/range-verifier.js';
import { type VerificationPolicy } from '../verify/verification-policy.js';
import { type VerifiedRange } from '../verify/verified-range.js';
import { type WalletCheck } from '../verify/wallet-check.js';
import { type HeadsReader, type TipWithBlocks } from './heads-reader.js';
import { type IndexStatus } from './index-status.js';
import { type ChainHeads, finalisedOf, nextStep } from './next-step.js';

/** Whether the index is now level with the chain as it was when the turn began. */
type TurnOutcome = 'level' | 'more';

export class IndexLoop {
  /** The last turn left the index level: what is new since is asked for in one request. */
  private isAtTip = false;
  private hasNewBlocks = false;

  constructor(
    private readonly heads: HeadsReader,
    private readonly ranges: RangeSource,
    private readonly writer: IndexWriter,
    private readonly applier: RangeApplier,
    private readonly walletCheck: WalletCheck,
    private readonly policy: VerificationPolicy,
    private readonly reader: ChainReader,
    private readonly status: IndexStatus,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /** How long to wait before the next turn where this one left the index level. */
  get waitMs(): number {
    return pollWaitMs({
      pollIntervalMs: this.options.pollIntervalMs,
      hasNewBlocks: this.hasNewBlocks,
      blocks: this.writer.rememberedBlocks(),
      nowMs: this.clock.nowMs(),
    });
  }

  /** After a halt: everything in doubt may be read again as often as at first. */
  async startAfresh(): Promise<void> {
    this.walletCheck.forgetReadAgain();
    await this.writer.reload();
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
      await this.writer.settled();
    }
  }

  private async step(isAtTip: boolean, signal: AbortSignal): Promise<TurnOutcome> {
    const { writer, status, logger } = this;
    if (!writer.isOpen) await writer.reload();
    const tip = isAtTip ? await this.heads.readTip(writer, signal) : undefined;
    const heads = tip?.heads ?? (await this.heads.read());
    signal.throwIfAborted();
    this.noteProgress(heads);
    const step = nextStep(writer.indexed, heads);
    this.hasNewBlocks = step.kind === 'advance';
    switch (step.kind) {
      case 'advance':
        return tip?.answer
          ? this.advanceAtTip({ ...tip, answer: tip.answer }, signal)
          : this.advance(step.to, heads, signal);
      case 'wait':
        return this.checkLevel(heads, signal);
      case 'behind':
        status.trouble = this.heads.apart;
        logger.debug({ blocks: step.by }, 'The node is behind the index: waiting');
        return 'level';
      case 'frozen':
        status.trouble = `the node's newest block ${step.latest} is below the finalised block ${step.finalised}`;
        logger.error(step, 'The node does not know the finalised block: frozen until it does');
        return 'level';
      case 'reorganised':
        await this.undoReorganisation();
        return 'more';
    }
  }

  private async advanceAtTip(tip: TipWithBlocks, signal: AbortSignal): Promise<TurnOutcome> {
    const range = await this.ranges.vouchForTip(tip, this.writer.state.total, signal);
    const heads = this.heads.afterTip(tip, range.other);
    return (await this.take(range, heads, signal)) ? this.checkLevel(heads, signal) : 'more';
  }

  private async advance(to: bigint, heads: ChainHeads, signal: AbortSignal): Promise<TurnOutcome> {
    if (!(await this.isHeadOnChain(heads))) {
      await this.undoReorganisation();
      return 'more';
    }
    const missing = { from: this.writer.head.number + 1n, to };
    for await (const range of this.ranges.stream(missing, heads.finalised.number, signal)) {
      if (!(await this.take(range, heads, signal))) return 'more';
    }
    return this.checkLevel(heads, signal);
  }

  /** Writes what follows the indexed head; false where the index went back instead. */
  private async take(
    range: VerifiedRange,
    heads: ChainHeads,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { parentHash } = range.answer;
    if (parentHash !== undefined && parentHash !== this.writer.head.hash) {
      await this.undoReorganisation();
      return false;
    }
    const isApplied = await inSpan(rangeSpan('write', range.answer), () =>
      this.applier.apply(range, heads, signal),
    );
    if (!isApplied) return false;
    this.status.trouble = undefined;
    this.noteProgress(heads);
    return true;
  }

  private async checkLevel(heads: ChainHeads, signal: AbortSignal): Promise<TurnOutcome> {
    if (!(await this.isLevel(heads, signal))) return 'more';
    this.noteProgress(heads);
    this.status.trouble = this.heads.apart;
    return 'level';
  }

  /**
   * Whenever the index is level with the chain: wallets are compared first, then it may be called synced.
   * @returns false where the index was rolled back instead
   */
  private async isLevel(heads: ChainHeads, signal: AbortSignal): Promise<boolean> {
    const { writer, applier, walletCheck } = this;
    await writer.settled();
    const finalised = finalisedOf(writer.indexed, heads);
    if (finalised?.number !== writer.state.finalised?.number)
      await writer.note({ finalised, synced: false });
    if (walletCheck.isDue(writer)) {
      const result = await inSpan({ name: 'wallet check' }, () =>
        walletCheck.check(writer, signal),
      );
      if (result.kind === 'roll-back') {
        await applier.undo(result.to, 'repair');
        return false;
      }
      // Before what the wallets vouch for is noted: the total may lead back to the first block.
      if (!writer.synced && !(await applier.agreesInAll())) return false;
      const { verifiedNumber } = result;
      if (verifiedNumber !== undefined)
        await writer.note({ finalised, verifiedNumber, synced: false });
    }
    if (!writer.synced) {
      await writer.note({ finalised, synced: true });
      await applier.warnIfNoneCounts();
    }
    this.policy.hasComparedWallets = true;
    if (writer.state.halted) await writer.resume();
    return true;
  }

  /**
   * Final blocks are read without being linked to the ones before them. Where the head was not final when it was indexed, the chain
   * may have left it since.
   */
  private async isHeadOnChain(heads: ChainHeads): Promise<boolean> {
    const { head, state } = this.writer;
    if (head.number >= heads.finalised.number || state.finalised?.number === head.number)
      return true;
    const [header] = await this.reader.headers([head.number]);
    return header?.hash === head.hash;
  }

  /** Takes back what the chain has left. @throws DeepReorganisationError; RetryableError where the chain still has the head */
  private async undoReorganisation(): Promise<void> {
    const { reader, writer } = this;
    await writer.settled();
    const fork = await findFork(writer.rememberedBlocks(), (numbers) => reader.headers(numbers));
    if (fork.number === writer.head.number)
      throw new RetryableError(
        'FORKED_ANSWER',
        `A node answered for another fork than the one with block ${fork.number} (${fork.hash})`,
      );
    await this.applier.undo(fork, 'reorganisation');
  }

  private noteProgress(heads: ChainHeads): void {
    const { status, writer } = this;
    const state = writer.stored;
    status.progressAtMs = this.clock.nowMs();
    status.head = state.head;
    status.finalised = state.finalised;
    status.verifiedNumber = state.verifiedNumber;
    status.synced = writer.synced;
    status.chainHeadNumber = heads.latest.number;
    if (!writer.state.halted) status.phase = writer.synced ? 'following' : 'backfilling';
  }
}

/** So many blocks tell how often a new one comes. */
const BLOCKS = 8;
/** A chain whose newest block is older is not waited for by its own beat. */
const LIVE_WITHIN_MS = 60_000;
const LONGEST_MS = 15_000;

interface PollSituation {
  readonly pollIntervalMs: number;
  /** The last look found blocks. */
  readonly hasNewBlocks: boolean;
  /** Newest blocks, ascending. */
  readonly blocks: readonly BlockRef[];
  readonly nowMs: number;
}

/**
 * How long to wait for the next block. On a live chain with a steady beat, one beat after a look that found a block, so that a quiet chain
 * costs one request a block; else the poll interval.
 */
export function pollWaitMs({ pollIntervalMs, hasNewBlocks, blocks, nowMs }: PollSituation): number {
  const newest = blocks.at(-1);
  const oldest = blocks.at(-1 - BLOCKS);
  const isLive =
    newest !== undefined && Math.abs(nowMs - newest.timestampSeconds * 1000) < LIVE_WITHIN_MS;
  if (!hasNewBlocks || !isLive || !oldest) return pollIntervalMs;
  const beatMs = ((newest.timestampSeconds - oldest.timestampSeconds) * 1000) / BLOCKS;
  return Math.max(pollIntervalMs, Math.min(LONGEST_MS, beatMs));
}
