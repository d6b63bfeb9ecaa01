/**
 * The loop that keeps the index level with the chain, from the first block on. Backfill and following are the same
 * loop.
 *
 * Each turn asks the chain for its heads, decides what to do (next-step.ts), and then reads on, rolls back, or waits.
 * A range is written if no witness contradicts it and, above finality, its parent is the indexed head, with the new
 * head in one transaction. A crash at any moment therefore leaves a consistent index.
 */
import { type ChainReader, isBlockMissing, type ReadRange } from '#libs/chain';
import { ROLLBACK_WITHIN_MS } from '#libs/db';
import { type BlockRef, NegativeBalanceError, RetryableError } from '#libs/domain';
import { type Clock, inSpan, type Logger } from '#libs/platform';
import { type IndexerMetrics } from '../health/indexer.metrics.js';
import { type IndexOptions } from '../settings/index-options.js';
import { requireEveryHeight } from '../setup/index-preparation.js';
import { rangeSpan, type Vouching } from '../vouch/vouch.js';
import { type IndexFacts, type IndexWriter, RollBackError } from '../write/index-writer.js';
import { type BackfillProgress } from '../health/backfill-progress.js';
import {
  type ChainHeads,
  type HeadsReader,
  type ReadTip,
  type TipWithBlocks,
} from '../vouch/heads-reader.js';
import { type IndexStatus } from '../health/index-status.js';
import { finalisedOf, type NextStep, nextStep } from './next-step.js';
import { DeepReorganisationError, findFork } from './reorganisation.js';

/** Whether the index had reached the chain's head as of the beginning of the turn. */
type TurnOutcome = 'level' | 'more';

export interface Turn {
  readonly outcome: TurnOutcome;
  /** Time to wait before the next turn, in milliseconds. */
  readonly waitMs: number;
}

const ROLLBACK = { what: 'rolling back', withinMs: ROLLBACK_WITHIN_MS };

export class IndexLoop {
  /** Number of events read, including those that change no balance. */
  private eventsRead = 0;

  constructor(
    private readonly heads: HeadsReader,
    private readonly vouching: Vouching,
    private readonly reader: ChainReader,
    private readonly progress: BackfillProgress,
    private readonly status: IndexStatus,
    private readonly metrics: IndexerMetrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /**
   * Resets the count of re-reads after a halt, so that suspect blocks are read again as often as before, and reads the
   * index again.
   */
  async startAfresh(writer: IndexWriter): Promise<void> {
    this.vouching.startAfresh();
    await writer.reload();
  }

  /**
   * @param before the outcome of the turn before: one request can bring everything new to a level index
   * @throws PermanentError if an operator must act; RetryableError for every failure that may pass
   */
  async turn(writer: IndexWriter, before: TurnOutcome | undefined): Promise<Turn> {
    try {
      return await this.follow(writer, before);
    } catch (error) {
      if (!(error instanceof RollBackError)) throw error;
      await this.rollBack(writer, error);
      return { outcome: 'more', waitMs: 0 };
    } finally {
      await writer.settled();
    }
  }

  private async follow(writer: IndexWriter, before: TurnOutcome | undefined): Promise<Turn> {
    if (!writer.isOpen) await writer.reload();
    if (before === undefined) await this.vouching.requireTwoProviders(writer.state);
    const tip = before === 'level' ? await this.heads.readTip(writer) : undefined;
    const heads = tip?.heads ?? (await this.heads.read());
    this.noteProgress(writer, heads);
    const step = nextStep(writer.indexed, heads);
    const outcome = await this.take(step, writer, { heads, tip });
    return { outcome, waitMs: outcome === 'level' ? this.waitMs(writer, step) : 0 };
  }

  private take(
    step: NextStep,
    writer: IndexWriter,
    { heads, tip }: { heads: ChainHeads; tip: ReadTip | undefined },
  ): Promise<TurnOutcome> | TurnOutcome {
    const { status, logger } = this;
    switch (step.kind) {
      case 'advance':
        return tip?.answer
          ? this.advanceAtTip(writer, { ...tip, answer: tip.answer })
          : this.advance(writer, step.to, heads);
      case 'wait':
        return this.checkLevel(writer, heads);
      case 'behind':
        status.trouble = this.heads.providersApartMessage;
        logger.debug({ blocks: step.by }, 'The node is behind the index: waiting');
        return 'level';
      case 'frozen':
        status.trouble = `${heads.endpoint}: the node's newest block ${step.latest} is below the finalised block ${step.finalised}`;
        logger.error(step, 'The node does not know the finalised block: frozen until it does');
        return 'level';
      case 'reorganised':
        return this.rollBackToFork(writer);
    }
  }

  private waitMs(writer: IndexWriter, step: NextStep): number {
    return pollWaitMs({
      pollIntervalMs: this.options.pollIntervalMs,
      hasNewBlocks: step.kind === 'advance',
      blocks: writer.rememberedBlocks(),
      nowMs: this.clock.nowMs(),
    });
  }

  private async advanceAtTip(writer: IndexWriter, tip: TipWithBlocks): Promise<TurnOutcome> {
    const range = await this.vouching.confirmTip(tip, writer.state.total, writer.signal);
    const heads = this.heads.afterTip(tip, range.confirmedBy);
    await this.append(writer, range, heads);
    return this.checkLevel(writer, heads);
  }

  private async advance(writer: IndexWriter, to: bigint, heads: ChainHeads): Promise<TurnOutcome> {
    if (!(await this.mayReadOn(writer, heads))) return this.rollBackToFork(writer);
    const missing = { from: writer.head.number + 1n, to };
    const ranges = this.vouching.stream(missing, heads.finalised.number, writer.signal);
    try {
      for await (const range of ranges) await this.append(writer, range, heads);
    } catch (error) {
      if (isBlockMissing(error)) await this.requireEveryHeight(writer, to);
      throw error;
    }
    return this.checkLevel(writer, heads);
  }

  /** A block is missing below the newest one: the chain may skip its height. @throws PermanentError */
  private async requireEveryHeight(writer: IndexWriter, newest: bigint): Promise<void> {
    const { number: from } = writer.stored.head;
    const last = from + BigInt(this.options.maxRangeBlocks);
    await requireEveryHeight(this.reader, { from, to: last < newest ? last : newest });
  }

  /** Writes a range after the indexed head. @throws RollBackError, and the errors of Vouching.check and IndexWriter.apply */
  private async append(writer: IndexWriter, range: ReadRange, heads: ChainHeads): Promise<void> {
    const { parentHash } = range;
    if (parentHash !== undefined && parentHash !== writer.head.hash) {
      return this.rollBackToFork(writer, range);
    }
    requireNotEarlier(range, writer.head);
    await inSpan(rangeSpan('write', range), () => this.write(writer, range, heads));
    this.noteProgress(writer, heads);
    this.status.trouble = undefined;
  }

  private async write(writer: IndexWriter, read: ReadRange, heads: ChainHeads): Promise<void> {
    const range = await this.vouching.check(read, writer, heads.finalised.number);
    requireFinalisedOnChain(range, heads);
    const changes = await this.apply(writer, range, {
      finalised: finalisedOf({ ...writer.indexed, head: range.head }, heads),
      verifiedNumber: this.vouching.isVouchedFor(range, writer.state) ? range.to : undefined,
    });
    writer.signal.throwIfAborted();
    this.vouching.forgetUpTo(writer.state.verifiedNumber);
    this.eventsRead += range.events;
    this.metrics.applied(range, changes);
    this.progress.applied(range, range.events, heads.latest.number);
  }

  /** @returns the number of balance changes. @throws NegativeBalanceError, and the errors of Vouching.requireVerified */
  private async apply(writer: IndexWriter, range: ReadRange, facts: IndexFacts): Promise<number> {
    try {
      return await writer.apply(range, facts);
    } catch (error) {
      if (!(error instanceof NegativeBalanceError)) throw error;
      await this.vouching.requireVerified(writer, range, error);
      throw error;
    }
  }

  /** Marks the index as synced if it is level with the chain, after the comparison of wallets that may be due. */
  private async checkLevel(writer: IndexWriter, heads: ChainHeads): Promise<TurnOutcome> {
    await writer.settled();
    const finalised = finalisedOf(writer.indexed, heads);
    if (finalised?.number !== writer.state.finalised?.number) await writer.note({ finalised });
    const verifiedNumber = await this.vouching.checkLevel(writer);
    if (verifiedNumber !== undefined) await writer.note({ finalised, verifiedNumber });
    if (!writer.synced) {
      await writer.note({ finalised, synced: true });
      await this.warnIfNoEventCounts(writer);
    }
    if (writer.state.halted) await writer.resume();
    this.noteProgress(writer, heads);
    this.status.trouble = this.heads.providersApartMessage;
    return 'level';
  }

  /**
   * Whether the chain still has the indexed head, so far as that is in question. Ranges of final blocks are not linked to
   * their parents, and a head that was not final when it was indexed may have been replaced since.
   */
  private async mayReadOn(writer: IndexWriter, heads: ChainHeads): Promise<boolean> {
    const { head, state } = writer;
    if (head.number >= heads.finalised.number || state.finalised?.number === head.number)
      return true;
    // The chain is longer than the index.
    const [header] = await this.reader.headers([head.number], { existing: head.number });
    return header?.hash === head.hash;
  }

  /**
   * The index and an answer are on two forks.
   * @param answer the range that does not follow the indexed head, if there is one
   * @throws RollBackError, DeepReorganisationError; RetryableError if the chain still has the indexed head
   */
  private async rollBackToFork(writer: IndexWriter, answer?: ReadRange): Promise<never> {
    await writer.settled();
    let fork = await this.findFork(writer);
    // Some endpoints keep headers of replaced blocks, so that those with the answer decide.
    for (const endpoint of [answer?.endpoint, answer?.confirmedBy?.endpoint]) {
      if (endpoint !== undefined && fork.number === writer.head.number)
        fork = (await this.forkBy(endpoint, writer)) ?? fork;
    }
    if (fork.number !== writer.head.number) throw new RollBackError(fork, 'reorganisation');
    throw new RetryableError(
      'FORKED_ANSWER',
      `${answer?.endpoint ?? 'A node'} answered for another fork than the one with block ${fork.number} (${fork.hash})`,
    );
  }

  /** Undefined if the endpoint cannot say, or has another final block, which one alone must not decide. */
  private async forkBy(endpoint: string, writer: IndexWriter): Promise<BlockRef | undefined> {
    try {
      return await this.findFork(writer, endpoint);
    } catch (error) {
      if (error instanceof RetryableError || error instanceof DeepReorganisationError)
        return undefined;
      throw error;
    }
  }

  private findFork(writer: IndexWriter, only?: string): Promise<BlockRef> {
    const blocks = writer.rememberedBlocks();
    // The final block: an endpoint that lacks it says nothing about the chain.
    const existing = blocks[0]?.number;
    return findFork(blocks, (numbers) => this.reader.headers(numbers, { only, existing }));
  }

  /** Rolls the index back to a block, which may take minutes. */
  private async rollBack(writer: IndexWriter, { to, why }: RollBackError): Promise<void> {
    const { metrics, logger, status } = this;
    const depth = writer.head.number - to.number;
    const span = {
      name: 'rollback',
      attributes: {
        'lowmark.reason': why,
        'lowmark.to_block': Number(to.number),
        'lowmark.depth': Number(depth),
      },
    };
    logger.info({ why, toBlock: to.number, depth }, 'Rolling back');
    const { changes, wallets } = await status.during(ROLLBACK, () =>
      inSpan(span, () => writer.rollback(to)),
    );
    metrics.rolledBack(why, Number(depth));
    logger.warn({ why, toBlock: to.number, depth, changes, wallets }, 'Rolled back');
  }

  /**
   * Warns if events were read but no balance ever changed. With a wrong pool number, or a condition that no event meets,
   * the index agrees with every comparison but stays empty.
   */
  private async warnIfNoEventCounts(writer: IndexWriter): Promise<void> {
    if (this.eventsRead === 0 || (await writer.hasWallets())) return;
    const { stakeEvents } = this.options;
    this.logger.warn(
      { events: this.eventsRead, stakeEvents },
      'The contract has events and none of them counts: every stake is 0. Check STAKE_EVENTS: the number of its preset (`masterchef-v1:7`), or its conditions (`where`); another one needs a new index',
    );
  }

  private noteProgress(writer: IndexWriter, heads: ChainHeads): void {
    writer.signal.throwIfAborted();
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

/** Another answer may be right, so that a wrong time is no reason to halt. */
function requireNotEarlier({ headers: [first], endpoint }: ReadRange, head: BlockRef): void {
  if (!first || first.timestampSeconds >= head.timestampSeconds) return;
  throw new RetryableError(
    'BLOCK_TIME',
    `${endpoint}: block ${first.number} is dated ${first.timestampSeconds}, before block ${head.number} at ${head.timestampSeconds} (Unix seconds)`,
  );
}

/** The range and the finalised block must be on one fork; otherwise they came from nodes on different forks. */
function requireFinalisedOnChain({ headers }: ReadRange, { finalised }: ChainHeads): void {
  const header = headers.find(({ number }) => number === finalised.number);
  if (header && header.hash !== finalised.hash)
    throw new RetryableError(
      'FORKED_ANSWER',
      `Block ${finalised.number} is ${header.hash} in one answer and finalised as ${finalised.hash} in another`,
    );
}

/** Number of blocks over which the block time is averaged. */
const BLOCKS = 8;
/** The block time is used only if the newest block is younger than this. */
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
