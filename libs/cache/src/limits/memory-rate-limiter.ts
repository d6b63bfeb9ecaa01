import { LRUCache } from 'lru-cache';
import { type Clock } from '#libs/platform';
import { type RateLimiter, type RatePolicy, type RateVerdict } from './rate-limiter.js';

/** Callers remembered at once, about 10 MB; the one that was silent longest is forgotten first. */
const MAX_CALLERS = 50_000;

/**
 * The generic cell rate algorithm: a key holds one number, the time at which its bucket will be full again. Whoever is full
 * now is as good as unknown, so forgetting old keys costs nothing.
 */
export class MemoryRateLimiter implements RateLimiter {
  private readonly fullAtMs: LRUCache<string, number>;

  constructor(
    private readonly clock: Clock,
    maxCallers = MAX_CALLERS,
  ) {
    this.fullAtMs = new LRUCache({ max: maxCallers });
  }

  take(key: string, { rate, burst }: RatePolicy): RateVerdict {
    const nowMs = this.clock.nowMs();
    const perRequestMs = 1000 / rate;
    const capacityMs = perRequestMs * burst;
    const aheadMs = (this.fullAtMs.get(key) ?? 0) - nowMs;
    // Nobody can owe more than a whole bucket: the clock was set back, and nobody must be locked out for that.
    const debtMs = aheadMs > capacityMs + EPSILON_MS ? 0 : Math.max(aheadMs, 0);
    const afterMs = debtMs + perRequestMs;
    const allowed = afterMs <= capacityMs + EPSILON_MS;
    const owedMs = allowed ? afterMs : debtMs;
    if (allowed) this.fullAtMs.set(key, nowMs + owedMs);
    return {
      allowed,
      limit: burst,
      remaining: Math.max(0, Math.floor((capacityMs - owedMs + EPSILON_MS) / perRequestMs)),
      resetSeconds: Math.ceil(owedMs / 1000),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((afterMs - capacityMs) / 1000)),
    };
  }

  giveBack(key: string, { rate }: RatePolicy): void {
    const fullAtMs = this.fullAtMs.get(key);
    if (fullAtMs !== undefined) this.fullAtMs.set(key, fullAtMs - 1000 / rate);
  }
}

/** Sums of fractions of milliseconds are off by a little; a request is not refused for that. */
const EPSILON_MS = 1e-3;
