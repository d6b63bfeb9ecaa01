/**
 * Takes due work from a queue and has it done, so much at once and no more. It leases only what it can begin at once, so that another
 * process gets the rest. Nothing here is remembered: a piece that fails is due again when its lease ends.
 */
import { randomUUID } from 'node:crypto';
import { SingleFlight } from '#libs/platform';

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
    for (let found = -1; found !== 0; done += found) {
      await this.pumping.underWay();
      found = await this.pump();
      await Promise.all(this.underWay);
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
      });
    this.underWay.add(work);
  }
}
