import { LRUCache } from 'lru-cache';
import { type Clock } from '#libs/platform';
import { believableMs, takeFrom, verdictOf } from './gcra.js';
import { type RateLimiter, type RatePolicy, type RateVerdict } from './rate-limiter.js';

/** Callers remembered at once, about 10 MB; the one that was silent longest is forgotten first. */
const MAX_CALLERS = 50_000;

/** Counts in this process. Whoever's bucket is full is as good as unknown, so forgetting old keys costs nothing. */
export class MemoryRateLimiter implements RateLimiter {
  private readonly fullAtMs: LRUCache<string, number>;

  constructor(
    private readonly clock: Clock,
    maxCallers = MAX_CALLERS,
  ) {
    this.fullAtMs = new LRUCache({ max: maxCallers });
  }

  take(key: string, policy: RatePolicy): RateVerdict {
    const nowMs = this.clock.nowMs();
    const aheadMs = (this.fullAtMs.get(key) ?? 0) - nowMs;
    const taken = takeFrom(believableMs(aheadMs, policy), policy);
    if (taken.allowed) this.fullAtMs.set(key, nowMs + taken.owedMs);
    return verdictOf(policy, taken);
  }

  giveBack(key: string, { rate }: RatePolicy): void {
    const fullAtMs = this.fullAtMs.get(key);
    if (fullAtMs !== undefined) this.fullAtMs.set(key, fullAtMs - 1000 / rate);
  }
}
