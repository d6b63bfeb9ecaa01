/**
 * The engine: queues in the database, each with a pump that leases the work that is due. A pump leases only as much as
 * it can begin at once, so that other processes get the rest. No work is kept in memory: work that fails is due again
 * when its lease ends.
 */
import { randomUUID } from 'node:crypto';
import { type RedemptionHints } from '#libs/db';
import { type Decimal } from '#libs/domain';
import { type Clock, type Logger, SingleFlight } from '#libs/platform';
import { type LedgerWatch } from '../ledger/ledger-watch.js';
import { type Alerts } from '../observe/alerts.js';
import { type EngineMetrics } from '../observe/engine-metrics.js';

export interface EngineSettings {
  /** Redemptions, and as many confirmations, that are worked on at the same time. */
  readonly atOnce: number;
  /** In milliseconds; three times the longest call to a partner. */
  readonly leaseMs: number;
  /** Milliseconds between two sweeps without a hint. */
  readonly pollMs: number;
  /** Whole tokens that one wallet may redeem in a UTC day; absent: not limited. */
  readonly walletDailyTokenBudget?: Decimal | undefined;
  /** Milliseconds until an open payout is polled again. */
  readonly payoutPollMs: number;
}

/** Tells that there may be work. */
export type HintSource = Pick<RedemptionHints, 'start' | 'stop'>;

export interface EngineContext {
  readonly clock: Clock;
  /** Random number from 0 to 1, for the jitter of backoff. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly alerts: Alerts;
  readonly metrics: EngineMetrics;
  readonly ledger: LedgerWatch;
  readonly settings: EngineSettings;
}

export interface WorkQueue<T> {
  readonly name: string;
  /** Items that are worked on at the same time. */
  readonly atOnce: number;
  /** Leases up to `count` items that are due. */
  lease(count: number, owner: string): Promise<readonly T[]>;
  /** Works on all the items. An error counts as the failure of all of them. */
  work(items: readonly T[], owner: string): Promise<void>;
  /** Items per call of `work`; default 1. */
  readonly batchSize?: number;
  /** True where finished work may make more work due, so that the pump looks for work again at once. */
  readonly feedsItself?: boolean;
  /** Makes the work under way end as soon as it can. */
  stop?(): void;
}

export interface PumpObserver {
  swept(queue: string): void;
  /** A lease query or a piece of work failed. */
  failed(queue: string, error: unknown): void;
}

/**
 * While other work runs, the pump waits until a quarter of its places is free: a lease for less is not worth its
 * statement.
 */
const MIN_FREE_DIVISOR = 4;

export class QueuePump<T> {
  private readonly running = new Set<Promise<void>>();
  private readonly sweep = new SingleFlight<number>();
  private wakeRequested = false;
  private busy = 0;
  private stopped = false;
  /** While `drain` runs, finished work does not wake the pump: `drain` must find and await all work itself. */
  private isDraining = false;
  /** Time of the last successful lease query, in milliseconds of the `performance` clock. */
  private sweptAt = performance.now();

  constructor(
    private readonly queue: WorkQueue<T>,
    private readonly observer: PumpObserver,
  ) {}

  /** Starts a sweep and returns at once. A call during a sweep makes the pump look for work once more. */
  wake(): void {
    this.wakeRequested = true;
    if (this.sweep.underWay()) return;
    void this.sweep
      .run(() => this.pump())
      .then(() => {
        if (this.wakeRequested && !this.stopped) this.wake();
      });
  }

  /** Works until nothing is due, and awaits the work. @returns the number of items */
  async drain(): Promise<number> {
    let done = 0;
    this.isDraining = true;
    try {
      for (let found = -1; found !== 0; done += found) {
        await this.sweep.underWay();
        found = await this.pump();
        await Promise.all(this.running);
      }
    } finally {
      this.isDraining = false;
    }
    return done;
  }

  /** Seconds since the last successful lease query. */
  get idleSeconds(): number {
    return (performance.now() - this.sweptAt) / 1000;
  }

  /** Leases nothing more and awaits the work under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.queue.stop?.();
    await this.sweep.underWay();
    await Promise.all(this.running);
  }

  private async pump(): Promise<number> {
    const { name, atOnce } = this.queue;
    let taken = 0;
    while (!this.stopped) {
      const free = atOnce - this.busy;
      if (this.busy > 0 && free < atOnce / MIN_FREE_DIVISOR) {
        await Promise.race(this.running);
        continue;
      }
      this.wakeRequested = false;
      const owner = randomUUID();
      let items: readonly T[];
      try {
        items = await this.queue.lease(free, owner);
      } catch (error) {
        this.observer.failed(name, error);
        break;
      }
      this.sweptAt = performance.now();
      this.observer.swept(name);
      taken += items.length;
      const { batchSize = 1 } = this.queue;
      for (let at = 0; at < items.length; at += batchSize) {
        this.begin(items.slice(at, at + batchSize), owner);
      }
      if (items.length < free) break;
    }
    return taken;
  }

  private begin(items: readonly T[], owner: string): void {
    this.busy += items.length;
    const work = this.queue
      .work(items, owner)
      .catch((error: unknown) => {
        this.observer.failed(this.queue.name, error);
      })
      .finally(() => {
        this.busy -= items.length;
        this.running.delete(work);
        if (this.queue.feedsItself === true && !this.isDraining) this.wake();
      });
    this.running.add(work);
  }
}

/** Milliseconds in which hints are coalesced into one sweep: every transition that leaves work to do sends a hint. */
const HINT_REST_MS = 20;

/** States: idle; running, with sweeps by interval and by hint; stopped for good. */
export class Engine {
  private interval: NodeJS.Timeout | undefined;
  private hinted: NodeJS.Timeout | undefined;
  private listening: Promise<void> = Promise.resolve();

  constructor(
    // `Omit` and `never` hide the item types, which the engine does not use.
    private readonly pumps: readonly Omit<QueuePump<never>, 'queue'>[],
    private readonly hints: HintSource | undefined,
    private readonly pollMs: number,
    private readonly logger: Logger,
  ) {}

  start(): NodeJS.Timeout {
    this.interval ??= setInterval(() => {
      this.listen();
      this.wake();
    }, this.pollMs);
    this.listen();
    this.wake();
    return this.interval;
  }

  wake(): void {
    for (const pump of this.pumps) pump.wake();
  }

  /**
   * Drains all queues until none has work that is due, and awaits it. For tests with a clock that they move themselves.
   */
  async sweep(): Promise<number> {
    let done = 0;
    for (let found = -1; found !== 0; done += found) {
      found = 0;
      for (const pump of this.pumps) found += await pump.drain();
    }
    return done;
  }

  /** Seconds since the last sweep of the queue that was swept least recently. */
  get idleSeconds(): number {
    return Math.max(...this.pumps.map((pump) => pump.idleSeconds));
  }

  /** Awaits the calls under way. A redemption with more steps due is released after its current step. */
  async stop(): Promise<void> {
    clearInterval(this.interval);
    const stopped = this.pumps.map((pump) => pump.stop());
    await this.listening;
    await this.hints?.stop();
    clearTimeout(this.hinted);
    await Promise.all(stopped);
  }

  /**
   * Connects to the hints, again where the connection was lost. Without hints the sweeps find the work a little later.
   */
  private listen(): void {
    if (this.hints === undefined) return;
    const listener = {
      onHint: () => {
        this.hinted ??= setTimeout(() => {
          this.hinted = undefined;
          this.wake();
        }, HINT_REST_MS);
      },
      onLost: (error: Error) => {
        this.logger.warn({ reason: error.message }, 'Hints were lost; sweeps go on');
      },
    };
    this.listening = this.hints.start(listener).catch((error: unknown) => {
      this.logger.warn({ err: error }, 'No hints; sweeps go on');
    });
  }
}
