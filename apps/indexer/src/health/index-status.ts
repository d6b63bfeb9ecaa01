import { type RpcObserver, type Verification } from '#libs/chain';
import { type BlockRef, MAX_AHEAD_SECONDS } from '#libs/domain';
import { type Clock } from '#libs/platform';

/** The lead over the index, as the right to do work that only one process may do. */
export interface Lead {
  /** Fencing token: writes with this token are refused once another process leads. */
  readonly fence: bigint;
  /** Aborts when the lead ends. */
  readonly signal: AbortSignal;
}

export type IndexPhase =
  | 'starting'
  /** Another indexer leads; this one is ready to take over. */
  | 'standby'
  | 'backfilling'
  | 'following'
  /** Stopped by an error that an operator must correct. */
  | 'halted';

/** A single step of the loop that may take longer than the watchdog's patience. */
export interface LongWork {
  readonly what: string;
  /** The time limit that the step itself has. */
  readonly withinMs: number;
}

/** The indexer's own condition: written by the loop, read by health, metrics and the watchdog. */
export class IndexStatus {
  phase: IndexPhase = 'starting';
  head: BlockRef | undefined;
  finalised: BlockRef | undefined;
  verifiedNumber: bigint | undefined;
  chainHeadNumber: bigint | undefined;
  synced = false;
  /** How events are verified. Undefined until the preparation has chosen the mode. */
  verification: Verification | undefined;
  /** The current step of the preparation, in words for an operator. Undefined before the first step. */
  step: string | undefined;
  /** Why the index makes no progress, in words for an operator. Undefined while all is well. */
  trouble: string | undefined;
  /** Time of the loop's last progress; Unix time in milliseconds. */
  progressAtMs = 0;
  /** The long step that the loop is in. Undefined while there is none. */
  longWork: LongWork | undefined;
  private taken: Lead | undefined;
  private readonly listeners: (() => void)[] = [];

  /** The current lead of this process. Undefined while this process does not lead. */
  get lead(): Lead | undefined {
    return this.taken?.signal.aborted === false ? this.taken : undefined;
  }

  /** Does a long step. The watchdog gives it the time that it has. */
  async during<T>(work: LongWork, step: () => Promise<T>): Promise<T> {
    this.longWork = work;
    try {
      return await step();
    } finally {
      if (this.longWork === work) this.longWork = undefined;
    }
  }

  /** Notes that this process is the leader and holds the newest fencing token. */
  leads(lead: Lead): void {
    this.taken = lead;
    for (const listener of this.listeners) listener();
  }

  /**
   * Wraps an observer of the endpoints: `trouble` shows why a request has to wait, and the wait does not count as a
   * stall.
   */
  observedBy(observer: RpcObserver, clock: Clock): RpcObserver {
    return {
      ...observer,
      waiting: (event) => {
        observer.waiting?.(event);
        this.trouble = event.message;
        this.progressAtMs = clock.nowMs();
      },
    };
  }

  onLead(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Age of the newest indexed block, in seconds; negative where the block is dated in the future. */
  lagSeconds(nowMs: number): number | undefined {
    return this.head && Math.floor(nowMs / 1000) - this.head.timestampSeconds;
  }

  /** Why the index is not ready to be relied on. Undefined where it is ready. */
  notReady(nowMs: number, maxLagSeconds: number): string | undefined {
    switch (this.phase) {
      case 'starting':
        return this.trouble ?? (this.step === undefined ? 'starting' : `starting: ${this.step}`);
      case 'standby':
        return 'standby: another indexer leads';
      case 'halted':
        return `halted: ${this.trouble ?? 'see the log'}`;
      case 'backfilling':
        return `catching up: block ${this.head?.number ?? 0n} of ${this.chainHeadNumber ?? 'unknown'}${this.because()}`;
      case 'following': {
        const lag = this.lagSeconds(nowMs) ?? Infinity;
        if (lag < -MAX_AHEAD_SECONDS)
          return `the newest indexed block is dated ${-lag} seconds ahead of this machine's clock${this.because()}`;
        return lag > maxLagSeconds
          ? `${lag} seconds behind (allowed: ${maxLagSeconds})${this.because()}`
          : undefined;
      }
    }
  }

  private because(): string {
    return this.trouble === undefined ? '' : `: ${this.trouble}`;
  }
}
