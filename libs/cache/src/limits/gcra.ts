/**
 * The generic cell rate algorithm: of each key one number is kept, the time at which its bucket will be full again. The same
 * arithmetic is in `take.lua.ts`, and a property test holds the two against each other.
 *
 * A request may weigh more than one: who holds the m-th part of a limit counts each request m times, which makes rate and
 * burst the m-th part while what is owed stays in milliseconds of the whole limit.
 */
import { type RatePolicy, type RateVerdict } from './rate-limiter.js';

/** Sums of fractions of milliseconds are off by a little; a request is not refused for that. */
export const EPSILON_MS = 1e-3;

export interface Taken {
  readonly allowed: boolean;
  /** Until the bucket is full again, this request included where it is allowed. */
  readonly owedMs: number;
}

/** How long a whole burst is owed. */
export function capacityMsOf({ rate, burst }: RatePolicy): number {
  return (1000 / rate) * burst;
}

/** Times in Unix milliseconds are rounded, at each request anew: what is ahead by so little more is no sign of anything. */
const ROUNDING_MS = 1000;

/**
 * What is owed where the bucket will be full so far ahead of now. Nobody can owe more than a whole bucket: the clock was set back,
 * and nobody must be locked out for that.
 */
export function believableMs(aheadMs: number, policy: RatePolicy): number {
  const capacityMs = capacityMsOf(policy);
  if (aheadMs > capacityMs + ROUNDING_MS) return 0;
  return Math.min(capacityMs, Math.max(0, aheadMs));
}

export function takeFrom(owedMs: number, policy: RatePolicy, weight = 1): Taken {
  const { costMs, capacityMs } = measures(policy, weight);
  const allowed = owedMs + costMs <= capacityMs + EPSILON_MS;
  return { allowed, owedMs: allowed ? owedMs + costMs : owedMs };
}

/** @param waitMs during which what is owed does not become less */
export function verdictOf(
  policy: RatePolicy,
  { allowed, owedMs }: Taken,
  { weight = 1, waitMs = 0 }: { weight?: number; waitMs?: number } = {},
): RateVerdict {
  const { costMs, capacityMs } = measures(policy, weight);
  return {
    allowed,
    limit: policy.burst,
    remaining: Math.max(0, Math.floor((capacityMs - owedMs + EPSILON_MS) / costMs)),
    resetSeconds: Math.ceil((owedMs + waitMs) / 1000),
    retryAfterSeconds: allowed
      ? 0
      : Math.max(1, Math.ceil((owedMs + costMs - capacityMs + waitMs) / 1000)),
  };
}

/** However small the part: one request can be had of it. */
function measures(policy: RatePolicy, weight: number): { costMs: number; capacityMs: number } {
  const costMs = (1000 / policy.rate) * weight;
  return { costMs, capacityMs: Math.max(capacityMsOf(policy), costMs) };
}
