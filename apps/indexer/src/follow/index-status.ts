import { type RpcObserver, type Verification } from '#libs/chain';
import { type BlockRef, MAX_AHEAD_SECONDS } from '#libs/domain';
import { type Clock } from '#libs/platform';

/** The lead over the index, for what only one process at a time may do. */
export interface Lead {
  /** Writes under it are refused once another process leads. */
  readonly fence: bigint;
  /** Aborted when the lead ends. */
  readonly signal: AbortSignal;
}

export type IndexPhase =
  | 'starting'
  /** Another indexer leads; this one is ready to take over. */
  | 'standby'
  | 'backfilling'
  | 'following'
  /** Stopped by an error that only a person can mend. */
  | 'halted';

/** What the indexer knows of its own condition: written by the loop, read by health, metrics and the watchdog. */
export class IndexStatus {
  phase: IndexPhase = 'starting';
  head: BlockRef | undefined;
  finalised: BlockRef | undefined;
  verifiedNumber: bigint | undefined;
  chainHeadNumber: bigint | undefined;
  synced = false;
  /** By what events are vouched for; undefined before that is known. */
  verification: Verification | undefined;
  /** What is being done, in words for an operator; before the first block is read. */
  step: string | undefined;
  /** Why nothing moves, in words for an operator; undefined while all is well. */
  trouble: string | undefined;
  /** When the loop last got anything done. */
  progressAtMs = 0;
  private taken: Lead | undefined;
  private readonly listeners: (() => void)[] = [];

  /** While this process leads; for work beside the loop that only one process may do. */
  get lead(): Lead | undefined {
    return this.taken?.signal.aborted === false ? this.taken : undefined;
  }

  /** The fence is raised: this process leads. */
  leads(lead: Lead): void {
    this.taken = lead;
    for (const listener of this.listeners) listener();
  }

  /** An observer of the endpoints that also tells here why a question has to wait. */
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

  /** Seconds between the newest indexed block and now; negative where it is dated into the future. */
  lagSeconds(nowMs: number): number | undefined {
    return this.head && Math.floor(nowMs / 1000) - this.head.timestampSeconds;
  }

  /** Why the index cannot be relied on right now, or undefined where it can. */
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
