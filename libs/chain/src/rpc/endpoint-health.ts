import {
  LogsWithheldError,
  NodeBehindError,
  RateLimitedError,
  type RpcError,
} from '../errors/rpc.errors.js';

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
 * random by up to half so that several clients do not return together, and never shorter than the node itself asked for.
 */
export class EndpointHealth {
  private failures = 0;
  private asideUntilMs = 0;
  private held = false;

  constructor(
    private readonly backoff: BackoffOptions,
    /** 0 to 1. */
    private readonly random: () => number,
  ) {}

  waitMs(nowMs: number): number {
    return Math.max(0, this.asideUntilMs - nowMs);
  }

  /** Set aside for a reason that asking again would not change: it asked us to wait, or it cannot be trusted. */
  isHeld(nowMs: number): boolean {
    return this.held && this.waitMs(nowMs) > 0;
  }

  succeeded(): void {
    this.failures = 0;
  }

  failed(error: RpcError, nowMs: number): void {
    // Requests that were in flight together fail together: one outage, one step.
    if (this.waitMs(nowMs) === 0) {
      this.failures++;
      this.held = false;
    }
    const { firstMs, longestMs } = this.backoff;
    const longest = error instanceof NodeBehindError ? LONGEST_BEHIND_MS : longestMs;
    const full = Math.min(longest, firstMs * 2 ** Math.min(30, this.failures - 1));
    const asked = heldMs(error);
    this.held ||= asked > 0;
    const until = nowMs + Math.max(asked, full * (1 - this.random() / 2));
    this.asideUntilMs = Math.max(this.asideUntilMs, until);
  }
}

function heldMs(error: RpcError): number {
  if (error instanceof LogsWithheldError) return WITHHELD_MS;
  return error instanceof RateLimitedError ? (error.retryAfterMs ?? 0) : 0;
}
