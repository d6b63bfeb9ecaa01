/**
 * The loop that keeps the index level with the chain, from the first block on. Backfill and following are the same
 * loop.
 *
 * Each turn asks the chain for its heads, decides what to do (next-step.ts), and then reads on, rolls back, or waits.
 * Only verified ranges whose parent is the indexed head are written, each with the new head in one transaction. A crash
 * at any moment therefore leaves a consistent index.
 */
import { type ChainReader, isBlockMissing } from '#libs/chain';
import { type BlockRef, RetryableError } from '#libs/domain';
import { type Clock, inSpan, type Logger } from '#libs/platform';
import { type WritingLead } from '../apply/index-writer.js';
import { findFork, type RangeApplier } from '../apply/range-applier.js';
import { type IndexOptions, verifiedUpTo } from '../index-options.js';
import { requireEveryHeight } from '../setup/index-preparation.js';
import { type RangeSource, rangeSpan } from '../verify/range-verifier.js';
import { type VerificationPolicy } from '../verify/verification-policy.js';
import { type VerifiedRange } from '../verify/verified-range.js';
import { type WalletCheck } from '../verify/wallet-check.js';
import { type HeadsReader, type ReadTip, type TipWithBlocks } from './heads-reader.js';
import { type IndexStatus } from './index-status.js';
import { type ChainHeads, finalisedOf, type NextStep, nextStep } from './next-step.js';

/** Whether the index had reached the chain's head as of the beginning of the turn. */
type TurnOutcome = 'level' | 'more';

export interface Turn {
  readonly outcome: TurnOutcome;
  /** Time to wait before the next turn, in milliseconds. */
  readonly waitMs: number;
}

export class IndexLoop {
  constructor(
    private readonly heads: HeadsReader,
    private readonly ranges: RangeSource,
    private readonly applier: RangeApplier,
    private readonly walletCheck: WalletCheck,
    private readonly policy: VerificationPolicy,
    private readonly reader: ChainReader,
    private readonly status: IndexStatus,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /**
   * Resets the count of re-reads after a halt, so that suspect blocks are read again as often as before, and reads the
   * index again.
   */
  async startAfresh({ writer }: WritingLead): Promise<void> {
    this.walletCheck.forgetReadAgain();
    await writer.reload();
  }

  /**
   * @param before the outcome of the turn before: one request can bring everything new to a level index
   * @throws PermanentError where an operator must act; RetryableError for every failure that may pass
   */
  async turn(lead: WritingLead, before: TurnOutcome | undefined): Promise<Turn> {
    const { writer } = lead;
    try {
      if (!writer.isOpen) await writer.reload();
      if (before === undefined && (await this.undoUnvouched(lead)))
        return { outcome: 'more', waitMs: 0 };
      const tip = before === 'level' ? await this.heads.readTip(writer, lead.signal) : undefined;
      const heads = tip?.heads ?? (await this.heads.read());
      this.noteProgress(lead, heads);
      const step = nextStep(writer.indexed, heads);
      const outcome = await this.take(step, lead, { heads, tip });
      return { outcome, waitMs: outcome === 'level' ? this.waitMs(lead, step) : 0 };
    } finally {
      await writer.settled();
    }
  }

  private take(
    step: NextStep,
    lead: WritingLead,
    { heads, tip }: { heads: ChainHeads; tip: ReadTip | undefined },
  ): Promise<TurnOutcome> | TurnOutcome {
    const { status, logger } = this;
    switch (step.kind) {
      case 'advance':
        return tip?.answer
          ? this.advanceAtTip(lead, { ...tip, answer: tip.answer })
          : this.advance(lead, step.to, heads);
      case 'wait':
        return this.checkLevel(lead, heads);
      case 'behind':
        status.trouble = this.heads.providersApartMessage;
        logger.debug({ blocks: step.by }, 'The node is behind the index: waiting');
        return 'level';
      case 'frozen':
        status.trouble = `the node's newest block ${step.latest} is below the finalised block ${step.finalised}`;
        logger.error(step, 'The node does not know the finalised block: frozen until it does');
        return 'level';
      case 'reorganised':
        return this.undoReorganisation(lead);
    }
  }

  private waitMs({ writer }: WritingLead, step: NextStep): number {
    return pollWaitMs({
      pollIntervalMs: this.options.pollIntervalMs,
      hasNewBlocks: step.kind === 'advance',
      blocks: writer.rememberedBlocks(),
      nowMs: this.clock.nowMs(),
    });
  }

  private async advanceAtTip(lead: WritingLead, tip: TipWithBlocks): Promise<TurnOutcome> {
    const { writer, signal } = lead;
    const range = await this.ranges.vouchForTip(tip, writer.state.total, signal);
    const heads = this.heads.afterTip(tip, range.other);
    return (await this.write(lead, range, heads)) ? this.checkLevel(lead, heads) : 'more';
  }

  private async advance(lead: WritingLead, to: bigint, heads: ChainHeads): Promise<TurnOutcome> {
    if (!(await this.isHeadOnChain(lead, heads))) return this.undoReorganisation(lead);
    const missing = { from: lead.writer.head.number + 1n, to };
    try {
      for await (const range of this.ranges.stream(missing, heads.finalised.number, lead.signal)) {
        if (!(await this.write(lead, range, heads))) return 'more';
      }
    } catch (error) {
      if (isBlockMissing(error)) await this.requireEveryHeight(lead, to);
      throw error;
    }
    return this.checkLevel(lead, heads);
  }

  /** A block is missing below the newest one: the chain may skip its height. @throws PermanentError */
  private async requireEveryHeight({ writer }: WritingLead, newest: bigint): Promise<void> {
    const { number: from } = writer.stored.head;
    const last = from + BigInt(this.options.maxRangeBlocks);
    await requireEveryHeight(this.reader, { from, to: last < newest ? last : newest });
  }

  /** Writes a range that follows the indexed head. False where the index was rolled back instead. */
  private async write(
    lead: WritingLead,
    range: VerifiedRange,
    heads: ChainHeads,
  ): Promise<boolean> {
    const { parentHash } = range.answer;
    if (parentHash !== undefined && parentHash !== lead.writer.head.hash) {
      await this.undoReorganisation(lead);
      return false;
    }
    const isApplied = await inSpan(rangeSpan('write', range.answer), () =>
      this.applier.apply(lead, range, heads),
    );
    if (!isApplied) return false;
    this.noteProgress(lead, heads);
    this.status.trouble = undefined;
    return true;
  }

  private async checkLevel(lead: WritingLead, heads: ChainHeads): Promise<TurnOutcome> {
    if (!(await this.isLevel(lead, heads))) return 'more';
    this.noteProgress(lead, heads);
    this.status.trouble = this.heads.providersApartMessage;
    return 'level';
  }

  /**
   * Marks the index as synced where it is level with the chain, after the comparison of wallets that may be due.
   * @returns false where the index was rolled back instead
   */
  private async isLevel(lead: WritingLead, heads: ChainHeads): Promise<boolean> {
    const { applier, walletCheck } = this;
    const { writer, signal } = lead;
    await writer.settled();
    const finalised = finalisedOf(writer.indexed, heads);
    if (finalised?.number !== writer.state.finalised?.number)
      await writer.note({ finalised, synced: false });
    if (walletCheck.isDue(writer)) {
      const result = await inSpan({ name: 'wallet check' }, () =>
        walletCheck.check(writer, signal),
      );
      if (result.kind === 'roll-back') {
        await applier.undo(lead, result.to, 'repair');
        return false;
      }
      // The total is compared before the wallets' `verifiedNumber` is stored: a difference must still be able to roll
      // the index back to the first block.
      if (!writer.synced && !(await applier.checkIndexTotal(lead))) return false;
      const { verifiedNumber } = result;
      if (verifiedNumber !== undefined)
        await writer.note({ finalised, verifiedNumber, synced: false });
    }
    if (!writer.synced) {
      await writer.note({ finalised, synced: true });
      await applier.warnIfNoEventCounts(writer);
    }
    this.policy.hasComparedWallets = true;
    if (writer.state.halted) await writer.resume();
    return true;
  }

  /**
   * Whether the chain still has the indexed head. Ranges of final blocks are not linked to their parents, and a head
   * that was not final when it was indexed may have been replaced since.
   */
  private async isHeadOnChain({ writer }: WritingLead, heads: ChainHeads): Promise<boolean> {
    const { head, state } = writer;
    if (head.number >= heads.finalised.number || state.finalised?.number === head.number)
      return true;
    const [header] = await this.reader.headers([head.number]);
    return header?.hash === head.hash;
  }

  /**
   * Rolls the index back to the fork.
   * @throws DeepReorganisationError; RetryableError where the chain still has the indexed head
   */
  private async undoReorganisation(lead: WritingLead): Promise<'more'> {
    const { reader } = this;
    const { writer } = lead;
    await writer.settled();
    const fork = await findFork(writer.rememberedBlocks(), (numbers) => reader.headers(numbers));
    if (fork.number === writer.head.number)
      throw new RetryableError(
        'FORKED_ANSWER',
        `A node answered for another fork than the one with block ${fork.number} (${fork.hash})`,
      );
    await this.applier.undo(lead, fork, 'reorganisation');
    return 'more';
  }

  /**
   * In the mode `two` only what two providers report counts. Rolls back blocks that were indexed in another mode and
   * that nothing vouches for yet, so that they are read again.
   */
  private async undoUnvouched(lead: WritingLead): Promise<boolean> {
    const { head, state } = lead.writer;
    const verified = verifiedUpTo(state, this.options);
    if (this.policy.mode !== 'two' || verified >= head.number) return false;
    const [to] = await this.reader.headers([verified]);
    if (to === undefined)
      throw new RetryableError('NO_HEADER', `No endpoint has the header of block ${verified}`);
    this.logger.warn(
      { fromBlock: verified + 1n, toBlock: head.number },
      'One provider alone reported these blocks: reading them again from two',
    );
    await this.applier.undo(lead, to, 'repair');
    return true;
  }

  private noteProgress({ writer, signal }: WritingLead, heads: ChainHeads): void {
    signal.throwIfAborted();
    const { status } = this;
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

/** Number of blocks over which the block time is averaged. */
const BLOCKS = 8;
/** The block time is used only where the newest block is younger than this. */
const LIVE_WITHIN_MS = 60_000;
const LONGEST_MS = 15_000;

interface PollSituation {
  readonly pollIntervalMs: number;
  readonly hasNewBlocks: boolean;
  readonly blocks: readonly BlockRef[];
  readonly nowMs: number;
}

/**
 * Time to wait for the next block. On a live chain, a poll that found new blocks is followed by a wait of one average
 * block time, so that a quiet chain costs one request per block. Otherwise the poll interval applies.
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
