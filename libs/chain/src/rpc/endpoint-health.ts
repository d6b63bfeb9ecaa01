/** Whether an endpoint may be asked (`EndpointHealth`), how fast it is (`Delivery`), and which is asked (`fastest`). */
import { LogsWithheldError, NodeBehindError, type RpcError } from './rpc.errors.js';

export interface BackoffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** A node that leaves out logs is set aside for this time, whatever else it answers. */
const WITHHELD_MS = 60_000;
/** A node that is behind the others usually follows within a block or two. */
const LONGEST_BEHIND_MS = 2_000;

/**
 * Whether an endpoint may be asked. An endpoint that fails is set aside for a time that doubles with each failure in a
 * row. Jitter shortens this time by up to half, so that several clients do not return together.
 */
export class EndpointHealth {
  private failures = 0;
  private asideUntilMs = 0;
  /** See `isHeld`. */
  private held = false;
  lastFailure: RpcError | undefined;

  constructor(
    private readonly backoff: BackoffOptions,
    /** Random numbers from 0 to 1. */
    private readonly random: () => number,
  ) {}

  waitMs(nowMs: number): number {
    return Math.max(0, this.asideUntilMs - nowMs);
  }

  /**
   * Whether the endpoint is set aside for what it answered: it left out logs, or is behind. Another answer does not end
   * this.
   */
  isHeld(nowMs: number): boolean {
    return this.held && this.waitMs(nowMs) > 0;
  }

  /**
   * Whether the endpoint is set aside because it left out logs. It answers, and is asked if no other endpoint can be.
   */
  isDistrusted(nowMs: number): boolean {
    return this.isHeld(nowMs) && this.lastFailure instanceof LogsWithheldError;
  }

  succeeded(nowMs: number): void {
    if (this.isHeld(nowMs)) return;
    this.failures = 0;
    this.asideUntilMs = 0;
  }

  failed(error: RpcError, nowMs: number): void {
    // Requests that were in flight together fail together: one outage counts as one failure.
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
    const backoffMs = withheld ? WITHHELD_MS : full * (1 - this.random() / 2);
    this.asideUntilMs = Math.max(this.asideUntilMs, nowMs + backoffMs);
    this.lastFailure = error;
  }
}

/** Weight of a new request in the means of `Delivery`, which rates how fast an endpoint delivers. */
const WEIGHT = 0.2;
/** The cost of a failed request besides its own time, because it is retried after a wait. */
const FAILURE_MS = 500;
/** The share of failures below which a retry is likely to succeed. */
const RARELY = 0.4;
/**
 * A rating that is not renewed loses half of its weight in this time, so that a slow endpoint is tried again now and
 * then.
 */
const HALF_LIFE_MS = 30_000;
/** An endpoint is as fast as the best one up to NEAR_MS, or up to NEAR_SHARE times the time of the best. */
const NEAR_MS = 25;
const NEAR_SHARE = 1.25;

export class Delivery {
  /** Mean latency of the requests that did not fail. */
  latencyMs = 0;
  private failed = 0;
  private samples = 0;
  private lastMs = 0;

  note(tookMs: number, failed: boolean, nowMs: number): void {
    const weight = this.samples++ === 0 ? 1 : WEIGHT;
    // A failure comes fast and delivers nothing, so it does not count for the latency.
    if (!failed) this.latencyMs += (tookMs - this.latencyMs) * (this.latencyMs === 0 ? 1 : weight);
    this.failed += ((failed ? 1 : 0) - this.failed) * weight;
    this.lastMs = nowMs;
  }

  /** Whether failures are occasional bad luck. */
  get failsRarely(): boolean {
    return this.failed < RARELY;
  }

  /** Expected time of a request behind `before` others; 0 for an endpoint that was never asked, so that it is tried. */
  expectedMs(before: number, nowMs: number): number {
    const fresh = 0.5 ** (Math.max(0, nowMs - this.lastMs) / HALF_LIFE_MS);
    return (before + 1) * (this.latencyMs + this.failed * FAILURE_MS) * fresh;
  }
}

interface Candidate {
  readonly delivery: Delivery;
  readonly questions: number;
  readonly hasFreeSlot: boolean;
}

/**
 * @returns the endpoint to ask, among those with a free slot if there are any: the first idle one that is about as
 * fast as the best, else the fastest
 */
export function fastest<T extends Candidate>(all: readonly T[], nowMs: number): T | undefined {
  const free = all.filter((one) => one.hasFreeSlot);
  const candidates = free.length > 0 ? free : all;
  const expected = (one: T): number => one.delivery.expectedMs(one.questions, nowMs);
  const best = Math.min(...candidates.map(expected));
  const near = Math.max(NEAR_MS, best * NEAR_SHARE);
  const idle = candidates.find((one) => one.questions === 0 && expected(one) <= near);
  if (idle) return idle;
  const least = [...candidates].sort(
    (a, b) => expected(a) - expected(b) || a.questions - b.questions,
  );
  return least[0];
}
