/** How far the index has synced towards the chain's head, how fast, and the time left: for log, health and metrics. */
import { type BlockRange } from '#libs/chain';
import { type Clock, type Logger } from '#libs/platform';
import { type IndexOptions } from '../settings/index-options.js';
import { type IndexStatus } from './index-status.js';

const LINE_EVERY_MS = 5_000;
/** Window over which the rate is measured: short, so that the rate soon shows a provider that slows down. */
const WINDOW_MS = 30_000;
/**
 * A catch-up of at most this many blocks is normal at the head and not logged, unless it takes longer than a log
 * interval.
 */
const FEW_BLOCKS = 1000n;

interface SyncFigures {
  readonly startBlock: bigint;
  /** Indexed part of the blocks from the first one to the chain's head, 0 to 1. Undefined before both are known. */
  readonly ratio: number | undefined;
  /** Rate of the last 30 seconds. Undefined before there are two readings. */
  readonly blocksPerSecond: number | undefined;
  /** 0 when the index has caught up; undefined while the rate is unknown or not positive. */
  readonly secondsLeft: number | undefined;
}

interface Reading {
  readonly atMs: number;
  readonly block: bigint;
}

export class BackfillProgress {
  /** Ascending. The first reading may be older than the window, as the start of the measurement. */
  private readings: Reading[] = [];
  private lineAtMs = 0;
  /** First reading since the index had last caught up. */
  private since: Reading | undefined;
  private events = 0;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly status: IndexStatus,
    private readonly options: IndexOptions,
  ) {}

  applied({ from, to }: BlockRange, events: number, chainHead: bigint): void {
    const atMs = this.clock.nowMs();
    if (this.since === undefined) {
      this.since = { atMs, block: from };
      this.lineAtMs = atMs;
    }
    this.record({ atMs, block: to });
    this.events += events;
    const isLevel = to >= chainHead;
    if (isLevel || atMs - this.lineAtMs >= LINE_EVERY_MS)
      this.logProgress(this.since, to, chainHead);
    if (!isLevel) return;
    this.since = undefined;
    this.events = 0;
  }

  figures(): SyncFigures {
    const { head, chainHeadNumber } = this.status;
    return this.figuresAt(head?.number, chainHeadNumber);
  }

  private figuresAt(head: bigint | undefined, chainHead: bigint | undefined): SyncFigures {
    const { firstBlock: startBlock } = this.options;
    const blocksPerSecond = this.rate();
    if (head === undefined || chainHead === undefined) {
      return { startBlock, ratio: undefined, blocksPerSecond, secondsLeft: undefined };
    }
    const missing = Number(chainHead - head);
    const all = Number(chainHead - startBlock) + 1;
    const ratio = missing <= 0 || all <= 0 ? 1 : Math.max(0, all - missing) / all;
    return {
      startBlock,
      ratio,
      blocksPerSecond,
      secondsLeft: secondsFor(missing, blocksPerSecond),
    };
  }

  private rate(): number | undefined {
    const nowMs = this.clock.nowMs();
    const last = this.readings.at(-1);
    const base =
      this.readings.findLast(({ atMs }) => atMs <= nowMs - WINDOW_MS) ?? this.readings[0];
    if (!last || !base || nowMs <= base.atMs) return undefined;
    if (base === last && nowMs - base.atMs < WINDOW_MS) return undefined;
    return (Number(last.block - base.block) * 1000) / (nowMs - base.atMs);
  }

  /** Keeps one reading per second. After a rollback the measurement begins again. */
  private record(reading: Reading): void {
    const last = this.readings.at(-1);
    if (last && reading.block < last.block) this.readings = [];
    const before = this.readings.at(-2);
    if (before && reading.atMs - before.atMs < 1000) this.readings.pop();
    const isOld = ({ atMs }: Reading): boolean => atMs <= reading.atMs - WINDOW_MS;
    const base = this.readings.findLastIndex(isOld);
    this.readings = [...this.readings.slice(Math.max(0, base)), reading];
  }

  private logProgress(since: Reading, to: bigint, chainHead: bigint): void {
    const { clock, logger } = this;
    const nowMs = clock.nowMs();
    const blocks = to - since.block + 1n;
    if (nowMs - since.atMs < LINE_EVERY_MS && blocks <= FEW_BLOCKS) return;
    this.lineAtMs = nowMs;
    if (to >= chainHead) {
      const seconds = Math.round((nowMs - since.atMs) / 1000);
      logger.info({ block: to, blocks, events: this.events, seconds }, 'Caught up with the chain');
      return;
    }
    const { ratio = 0, blocksPerSecond, secondsLeft } = this.figuresAt(to, chainHead);
    logger.info(
      {
        block: to,
        ofBlock: chainHead,
        percent: percentOf(ratio),
        blocksPerSecond: blocksPerSecond && Math.round(blocksPerSecond),
        secondsLeft,
        events: this.events,
      },
      'Backfilling',
    );
  }
}

/** Percentage with one decimal, rounded down, so that 100 means caught up. */
export function percentOf(ratio: number): number {
  return Math.floor(ratio * 1000) / 10;
}

function secondsFor(missing: number, blocksPerSecond: number | undefined): number | undefined {
  if (missing <= 0) return 0;
  return blocksPerSecond === undefined || blocksPerSecond <= 0
    ? undefined
    : Math.ceil(missing / blocksPerSecond);
}
