/**
 * The generic cell rate algorithm: of each key one number is kept, the time at which its bucket will be full again. The same
 * arithmetic is in `take.lua.ts`, and a property test holds the two against each other.
 */
import { type RatePolicy, type RateVerdict } from './rate-limiter.js';

/** Sums of fractions of milliseconds are off by a little; a request is not refused for that. */
export const EPSILON_MS = 1e-3;

export interface Taken {
  readonly allowed: boolean;
  /** Until the bucket is full again, this request included where it is allowed. */
  readonly owedMs: number;
}

/** @param aheadMs how far ahead of now the bucket will be full; negative where it is full */
export function takeFrom(aheadMs: number, { rate, burst }: RatePolicy): Taken {
  const perRequestMs = 1000 / rate;
  const capacityMs = perRequestMs * burst;
  // Nobody can owe more than a whole bucket: the clock was set back, and nobody must be locked out for that.
  const debtMs = aheadMs > capacityMs + EPSILON_MS ? 0 : Math.max(aheadMs, 0);
  const allowed = debtMs + perRequestMs <= capacityMs + EPSILON_MS;
  return { allowed, owedMs: allowed ? debtMs + perRequestMs : debtMs };
}

export function verdictOf({ rate, burst }: RatePolicy, { allowed, owedMs }: Taken): RateVerdict {
  const perRequestMs = 1000 / rate;
  const capacityMs = perRequestMs * burst;
  return {
    allowed,
    limit: burst,
    remaining: Math.max(0, Math.floor((capacityMs - owedMs + EPSILON_MS) / perRequestMs)),
    resetSeconds: Math.ceil(owedMs / 1000),
    retryAfterSeconds: allowed
      ? 0
      : Math.max(1, Math.ceil((owedMs + perRequestMs - capacityMs) / 1000)),
  };
}
