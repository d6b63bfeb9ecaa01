import { LogsWithheldError, NodeBehindError, type RpcError } from '../errors/rpc.errors.js';

export interface BackoffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** A node that leaves out logs is not asked again soon, whatever else it answers. */
const WITHHELD_MS = 60_000;
/** A node behind the others usually follows within a block or two. */
const LONGEST_BEHIND_MS = 2_000;

/**
 * Whether an endpoint may be asked. One that fails is set aside for a time that doubles with each failure in a row, shortened at
 * random by up to half so that several clients do not return together. Afterwards one request tries it.
 */
export class EndpointHealth {
  private failures = 0;
  private asideUntilMs = 0;
  private held = false;
  private last: RpcError | undefined;

  constructor(
    private readonly backoff: BackoffOptions,
    /** 0 to 1. */
    private readonly random: () => number,
  ) {}

  waitMs(nowMs: number): number {
    return Math.max(0, this.asideUntilMs - nowMs);
  }

  /** Set aside for what its answers said, which another answer does not change: it cannot be trusted, or is behind. */
  isHeld(nowMs: number): boolean {
    return this.held && this.waitMs(nowMs) > 0;
  }

  /** Set aside for leaving out logs: it answers, and is asked where no other endpoint can be. */
  isDistrusted(nowMs: number): boolean {
    return this.isHeld(nowMs) && this.last instanceof LogsWithheldError;
  }

  /** It was set aside and has not answered since. */
  get isOnTrial(): boolean {
    return this.failures > 0 && !this.held;
  }

  get lastFailure(): RpcError | undefined {
    return this.last;
  }

  /** A request was answered. */
  succeeded(nowMs: number): void {
    if (this.isHeld(nowMs)) return;
    this.failures = 0;
    this.asideUntilMs = 0;
  }

  failed(error: RpcError, nowMs: number): void {
    // Requests that were in flight together fail together: one outage, one step.
    if (this.waitMs(nowMs) === 0) {
      this.failures++;
      this.held = false;
    }
    const { firstMs, longestMs } = this.backoff;
    const behind = error instanceof NodeBehindError;
    const withheld = error instanceof LogsWithheldError;
    const longest = behind ? LONGEST_BEHIND_MS : longestMs;
    const full = Math.min(longest, firstMs * 2 ** Math.min(30, this.failures - 1));
    this.held ||= behind || withheld;
    const asideMs = withheld ? WITHHELD_MS : full * (1 - this.random() / 2);
    this.asideUntilMs = Math.max(this.asideUntilMs, nowMs + asideMs);
    this.last = error;
  }
}
