import { randomInt } from 'node:crypto';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { ChainReader } from '#libs/chain';
import { sessionUrl } from '#libs/config';
import {
  type IndexState,
  IndexStore,
  SealedDayStore,
  type SealOutcome,
  SealWriter,
} from '#libs/db';
import { type BlockRef, dayOf, RetryableError, dayText, SECONDS_PER_DAY } from '#libs/domain';
import { CLOCK, type Clock, inSpan, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { type Lead, IndexStatus } from '../health/index-status.js';
import { LeadingWork } from '../health/leading-work.js';
import { BACKGROUND_READER, INDEX_OPTIONS, type IndexOptions } from '../settings/index-options.js';
import { IndexerSettings } from '../settings/indexer.env.js';
import { Witnesses } from '../vouch/witnesses.js';
import { ClosingBlocks, type DueDays, dueDays } from './closing-block.js';
import { SealMetrics } from './seal.metrics.js';
import { type DayThread, SealFailedError, type StartDayThread } from './seal-thread.js';

export const START_DAY_THREAD = Symbol('StartDayThread');

const RETRY_AFTER_MS = 10 * 60_000;

/**
 * Codes of errors that the day itself did not cause: the index changed, another process leads, or the database is
 * unavailable. The next tick tries again.
 */
const PASSING = new Set(['SEAL_OUTDATED', 'INDEX_FENCED', 'DATABASE_UNAVAILABLE']);

interface SealRun extends DueDays {
  readonly lead: Lead;
  /** A block dated after the last day of the run, indexed, final and verified. */
  readonly newestSettledBlock: BlockRef;
  /** The first day whose leaves and nodes are kept. */
  readonly keptFrom: number;
  readonly recheck: Recheck;
}

type WrongSum = SealFailedError & { readonly difference: bigint };

/**
 * The stored note that sealed days have to be recomputed. Where a rollback has noted an earlier day since, the newer
 * note stays.
 */
interface Recheck {
  from: number | undefined;
  /** The newest sealed day when the run began. */
  readonly last: number | null;
}

/**
 * Seals each final UTC day, oldest first, in the leader and only while it follows the chain. It looks for such days
 * every 10 seconds. Each run also draws an older day at random and recomputes it.
 */
@Injectable()
export class SealService implements BeforeApplicationShutdown {
  private readonly work: LeadingWork;
  private readonly closingBlocks: ClosingBlocks;

  constructor(
    @Inject(IndexStore) private readonly index: IndexStore,
    @Inject(SealedDayStore) private readonly days: SealedDayStore,
    @Inject(SealWriter) private readonly writer: SealWriter,
    @Inject(BACKGROUND_READER) private readonly reader: ChainReader,
    @Inject(IndexStatus) private readonly status: IndexStatus,
    @Inject(IndexerSettings) private readonly settings: IndexerSettings,
    @Inject(INDEX_OPTIONS) private readonly options: IndexOptions,
    @Inject(SealMetrics) private readonly metrics: SealMetrics,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(START_DAY_THREAD) private readonly startThread: StartDayThread,
  ) {
    this.work = new LeadingWork(status, clock);
    this.closingBlocks = new ClosingBlocks(reader, new Witnesses(status, reader, clock));
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.work.stop();
  }

  /** Never rejects, so that a failure to seal does not stop the index. One run is made at a time. */
  @Cron('*/10 * * * * *', { name: 'seal', timeZone: 'UTC' })
  tick(): Promise<void> {
    // Another leader reports what it finds itself.
    if (this.status.lead === undefined) this.metrics.forgetSums();
    return this.work.run((lead) => this.attempt(lead));
  }

  private async attempt(lead: Lead): Promise<void> {
    const { logger, metrics } = this;
    try {
      const run = await this.dueRun(lead);
      if (run !== undefined) await inSpan({ name: 'seal days' }, () => this.seal(run));
    } catch (error) {
      if (lead.signal.aborted) {
        logger.info('Stopped sealing days; what is missing is sealed after the next start');
        return;
      }
      const isPassing = error instanceof RetryableError && PASSING.has(error.code);
      if (!isPassing) this.work.pauseFor(RETRY_AFTER_MS);
      if (isWrongSum(error)) await this.reportWrongSum(error);
      else logger[isPassing ? 'warn' : 'error']({ err: error }, 'A day could not be sealed');
    } finally {
      metrics.daysLeft(0);
    }
  }

  private async dueRun(lead: Lead): Promise<SealRun | undefined> {
    const state = await this.index.state();
    const { first, last, recheckFrom: notedFrom } = await this.days.summary();
    if (!state?.finalised) return undefined;
    const newest = dayOf(state.finalised.timestampSeconds) - 1;
    // Most checks end here, without a call to a node.
    if (last !== null && last >= newest && notedFrom === null) return undefined;
    const newestSettledBlock = await this.settledBlock(state);
    if (newestSettledBlock === undefined) return undefined;
    const { timestampSeconds } = await this.block(this.options.firstBlock);
    const firstDay = Math.min(dayOf(timestampSeconds), first ?? Infinity);
    // A node dated the first block too late when the first day was sealed.
    const lacksDays = first !== null && firstDay < first;
    if (lacksDays) await this.writer.recheck(firstDay);
    const recheckFrom = lacksDays ? Math.min(firstDay, notedFrom ?? firstDay) : notedFrom;
    const due = dueDays({ settled: newestSettledBlock, firstDay, newestDay: last, recheckFrom });
    if (due.to < due.from) return undefined;
    const keptFrom = Math.max(due.to, last ?? due.to) - this.settings.sealKeptDays + 1;
    const recheck = { from: recheckFrom ?? undefined, last };
    return { ...due, lead, newestSettledBlock, keptFrom, recheck };
  }

  private async settledBlock(state: IndexState): Promise<BlockRef | undefined> {
    const { finalised, verifiedNumber, head, halted } = state;
    if (!finalised || verifiedNumber === undefined || halted) return undefined;
    // A day is not sealed from what is known to be wrong.
    if (await this.index.hasFindings()) return undefined;
    const number = [finalised.number, verifiedNumber, head.number].reduce((a, b) =>
      a < b ? a : b,
    );
    return number === finalised.number ? finalised : this.block(number);
  }

  private async block(number: bigint): Promise<BlockRef> {
    const [header] = await this.reader.headers([number]);
    if (header !== undefined) return header;
    throw new RetryableError('FINAL_BLOCK_MISSING', `No node has the final block ${number}`);
  }

  private async seal(run: SealRun): Promise<void> {
    const { lead, from, to, keptFrom } = run;
    const { stakeSet } = this.settings;
    const data = { url: sessionUrl(this.settings), stakeSet, applicationName: 'lowmark-indexer' };
    const thread = this.startThread(data, lead.signal);
    try {
      let before = await this.closingBefore(from, run.newestSettledBlock);
      for (let day = from; day <= to; day += 1) {
        this.metrics.daysLeft(to - day + 1);
        before = await this.sealDay(thread, { run, day, before });
      }
      await this.writer.forgetLists(lead.fence, keptFrom);
      await this.checkOlderDay(thread, run);
    } finally {
      await thread.stop();
    }
  }

  /** @returns the closing block of `day` */
  private async sealDay(
    thread: DayThread,
    { run, day, before }: { run: SealRun; day: number; before: BlockRef },
  ): Promise<BlockRef> {
    const { lead, keptFrom } = run;
    const startedMs = this.clock.nowMs();
    const closing = await this.closingBlock(day, before, run.newestSettledBlock);
    const outcome = await thread.seal({
      ...{ day, closing, fence: lead.fence },
      above: before.number,
      keepsLists: day >= keptFrom,
    });
    this.metrics.sumAgrees(day);
    this.tell(outcome, this.clock.nowMs() - startedMs);
    await this.noteRechecked(run.recheck, day);
    return closing;
  }

  private async noteRechecked(recheck: Recheck, day: number): Promise<void> {
    const { from, last } = recheck;
    if (from === undefined) return;
    const next = last !== null && day < last ? day + 1 : undefined;
    await this.writer.rechecked(from, next);
    recheck.from = next;
  }

  private async checkOlderDay(thread: DayThread, run: SealRun): Promise<void> {
    const { first } = await this.days.summary();
    if (first === null || first >= run.from) return;
    const day = randomInt(first, run.from);
    const older = { ...run, recheck: { from: undefined, last: null } };
    const before = await this.closingBefore(day, run.newestSettledBlock);
    try {
      await this.sealDay(thread, { run: older, day, before });
    } catch (error) {
      // The next runs begin with this day, until its sum is right.
      if (isWrongSum(error)) await this.writer.recheck(day);
      throw error;
    }
  }

  /** From now on the api does not answer, and no day is sealed, until the index is repaired. */
  private async reportWrongSum({ day, difference }: WrongSum): Promise<void> {
    this.metrics.sumDiffers(day, difference);
    this.logger.error(
      { day: dayText(day), difference },
      'A day was not sealed: the balances at its end do not add up to the stored total. See docs/operating/troubleshooting.md#a-wrong-figure',
    );
    try {
      await this.index.recordFinding('all', 'seal');
    } catch (error) {
      this.logger.error({ err: error }, 'It could not be noted, and the api goes on answering');
    }
  }

  private tell({ kind, sealed }: SealOutcome, tookMs: number): void {
    const { logger, metrics } = this;
    const { day, revision, root, previousRoot, wallets, blockNumber } = sealed;
    const date = dayText(day);
    const line = { day: date, revision, root, wallets, blockNumber, tookMs };
    metrics.worked(kind, tookMs / 1000);
    if (kind === 'sealed') logger.info(line, 'Sealed a day');
    if (kind === 'same') logger.info(line, 'A sealed day came out as it was sealed');
    if (kind !== 'revised') return;
    logger.error(
      { ...line, previousRoot },
      'A sealed day came out differently: see docs/operating/troubleshooting.md#a-wrong-figure',
    );
  }

  /**
   * The closing block of the day before. Where the first indexed block is dated on `day` or later, the block before it:
   * nothing is indexed below.
   */
  private async closingBefore(day: number, settled: BlockRef): Promise<BlockRef> {
    const { firstBlock } = this.options;
    const first = await this.block(firstBlock);
    if (dayOf(first.timestampSeconds) >= day) return this.block(firstBlock - 1n);
    return this.closingBlock(day - 1, first, settled);
  }

  private closingBlock(day: number, before: BlockRef, settled: BlockRef): Promise<BlockRef> {
    const endSeconds = (day + 1) * SECONDS_PER_DAY;
    return this.closingBlocks.find({ endSeconds, from: before, to: settled });
  }
}

function isWrongSum(error: unknown): error is WrongSum {
  return error instanceof SealFailedError && error.difference !== undefined;
}
