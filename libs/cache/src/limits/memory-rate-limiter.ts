import { LRUCache } from 'lru-cache';
import { type Clock } from '#libs/platform';
import { takeFrom, verdictOf } from './gcra.js';
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
    const taken = takeFrom((this.fullAtMs.get(key) ?? 0) - nowMs, policy);
    if (taken.allowed) this.fullAtMs.set(key, nowMs + taken.owedMs);
    return verdictOf(policy, taken);
  }

  giveBack(key: string, { rate }: RatePolicy): void {
    const fullAtMs = this.fullAtMs.get(key);
    if (fullAtMs !== undefined) this.fullAtMs.set(key, fullAtMs - 1000 / rate);
  }

  /** What the key owes now; 0 where it is unknown. */
  owedMs(key: string): number {
    return Math.max(0, (this.fullAtMs.peek(key) ?? 0) - this.clock.nowMs());
  }

  /** Takes over what the key owes elsewhere. */
  note(key: string, owedMs: number): void {
    this.fullAtMs.set(key, this.clock.nowMs() + owedMs);
  }
}
