/**
 * The engine: queues in the database, each with a pump that takes what is due, so much at once and no more. A pump leases only what it can
 * begin at once, so that another process gets the rest. Nothing is remembered here: a piece that fails is due again when its lease ends.
 */
import { randomUUID } from 'node:crypto';
import { type RedemptionHints } from '#libs/db';
import { type Decimal } from '#libs/domain';
import { type Clock, type Logger, SingleFlight } from '#libs/platform';
import { type Alerts } from '../observe/alerts.js';
import { type EngineMetrics } from '../observe/engine-metrics.js';

export interface EngineSettings {
  /** Redemptions, and confirmations, worked at together. */
  readonly atOnce: number;
  /** Three times the longest call. */
  readonly leaseMs: number;
  /** Between two sweeps where no hint comes. */
  readonly pollMs: number;
  /** Whole tokens that one wallet may redeem in a UTC day; absent: not limited. */
  readonly walletDailyTokenBudget?: Decimal | undefined;
  /** How soon an open payout is looked at again. */
  readonly payoutPollMs: number;
  /** Where hints are listened for, not behind a pooler; absent: only the sweeps find work. */
  readonly databaseUrl?: string;
}

/** What each part of the engine works with. */
export interface EngineContext {
  readonly clock: Clock;
  /** 0 to 1, for the jitter of waits. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly alerts: Alerts;
  readonly metrics: EngineMetrics;
  readonly settings: EngineSettings;
}

export interface WorkQueue<T> {
  readonly name: string;
  /** How many are done at once. */
  readonly atOnce: number;
  /** Takes up to so many that are due. */
  lease(count: number, owner: string): Promise<readonly T[]>;
  /** Does them all; what it throws concerns all of them. */
  work(items: readonly T[], owner: string): Promise<void>;
  /** How many are handed to `work` together; absent: one. */
  readonly together?: number;
  /** Whether what is done may make more due, so that it is looked for at once. */
  readonly feedsItself?: boolean;
  /** What is under way ends as soon as it can. */
  stop?(): void;
}

export interface PumpObserver {
  swept(queue: string): void;
  /** Leasing failed, or a piece of work did. */
  failed(queue: string, error: unknown): void;
}

/** A lease for less is not worth its statement while other work goes on. */
const SMALLEST_SHARE = 4;

export class QueuePump<T> {
  private readonly underWay = new Set<Promise<void>>();
  private readonly pumping = new SingleFlight<number>();
  private wanted = false;
  private busy = 0;
  private stopped = false;
  /** What one who drains has not found must not be under way. */
  private isDraining = false;
  /** Of this process' clock. */
  private sweptAt = performance.now();

  constructor(
    private readonly queue: WorkQueue<T>,
    private readonly observer: PumpObserver,
  ) {}

  /** Something may be due. Returns at once. */
  wake(): void {
    this.wanted = true;
    if (this.pumping.underWay()) return;
    void this.pumping
      .run(() => this.pump())
      .then(() => {
        if (this.wanted && !this.stopped) this.wake();
      });
  }

  /** Does what is due until nothing is, and awaits it. @returns how many pieces */
  async drain(): Promise<number> {
    let done = 0;
    this.isDraining = true;
    try {
      for (let found = -1; found !== 0; done += found) {
        await this.pumping.underWay();
        found = await this.pump();
        await Promise.all(this.underWay);
      }
    } finally {
      this.isDraining = false;
    }
    return done;
  }

  /** Since it last looked for work, successfully. */
  get idleSeconds(): number {
    return (performance.now() - this.sweptAt) / 1000;
  }

  /** Takes nothing more and awaits what is under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.queue.stop?.();
    await this.pumping.underWay();
    await Promise.all(this.underWay);
  }

  private async pump(): Promise<number> {
    const { name, atOnce } = this.queue;
    let taken = 0;
    while (!this.stopped) {
      const free = atOnce - this.busy;
      if (this.busy > 0 && free < atOnce / SMALLEST_SHARE) {
        await Promise.race(this.underWay);
        continue;
      }
      this.wanted = false;
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
      const { together = 1 } = this.queue;
      for (let at = 0; at < items.length; at += together) {
        this.begin(items.slice(at, at + together), owner);
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
        this.underWay.delete(work);
        if (this.queue.feedsItself === true && !this.isDraining) this.wake();
      });
    this.underWay.add(work);
  }
}

/** Hints come with every transition that leaves something to do; so many of them are answered with one look. */
const HINT_REST_MS = 20;

/** States: idle, running (sweeps by its interval and by hints), stopped for good. */
export class Engine {
  private interval: NodeJS.Timeout | undefined;
  private hinted: NodeJS.Timeout | undefined;
  private listening: Promise<void> = Promise.resolve();

  constructor(
    // What the pieces of work are is no concern of the engine's.
    private readonly pumps: readonly Omit<QueuePump<never>, 'queue'>[],
    private readonly hints: RedemptionHints | undefined,
    private readonly pollMs: number,
    private readonly logger: Logger,
  ) {}

  /** @returns the interval that drives the sweeps */
  start(): NodeJS.Timeout {
    this.interval ??= setInterval(() => {
      this.listen();
      this.wake();
    }, this.pollMs);
    this.listen();
    this.wake();
    return this.interval;
  }

  /** Something may be due. */
  wake(): void {
    for (const pump of this.pumps) pump.wake();
  }

  /** Does all that is due, and what becomes due by it, and awaits it; for a clock that is moved by hand. */
  async sweep(): Promise<number> {
    let done = 0;
    for (let found = -1; found !== 0; done += found) {
      found = 0;
      for (const pump of this.pumps) found += await pump.drain();
    }
    return done;
  }

  /** How long the queue that was swept least recently has waited. */
  get idleSeconds(): number {
    return Math.max(...this.pumps.map((pump) => pump.idleSeconds));
  }

  /** Lets the calls under way end, and gives back the leases of what waits. */
  async stop(): Promise<void> {
    clearInterval(this.interval);
    const stopped = this.pumps.map((pump) => pump.stop());
    await this.listening;
    await this.hints?.stop();
    clearTimeout(this.hinted);
    await Promise.all(stopped);
  }

  /** Again where the connection was lost; without it the sweeps find the work a little later. */
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
