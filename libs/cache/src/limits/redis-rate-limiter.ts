import { type RedisLink } from '../redis/redis-link.js';
import { TurnBatch } from '../redis/turn-batch.js';
import { type Taken, verdictOf } from './gcra.js';
import { type MemoryRateLimiter } from './memory-rate-limiter.js';
import { type RateLimiter, type RatePolicy, type RateVerdict } from './rate-limiter.js';
import { GIVE_BACK, sha1Of, TAKE } from './take.lua.js';

const PREFIX = 'lowmark:limit:';
const TAKE_SHA = sha1Of(TAKE);
const GIVE_BACK_SHA = sha1Of(GIVE_BACK);
/** Keys whose local admissions are remembered until Redis learns of them. */
const MAX_UNSENT = 50_000;

/**
 * Counts for all replicas together. Without Redis each replica counts for itself under the same policy, from what was known
 * last; and what it admitted meanwhile is put on the shared account as soon as Redis answers again.
 */
export class RedisRateLimiter implements RateLimiter {
  private readonly unsent = new Map<string, number>();
  private readonly takes = new TurnBatch((asked: readonly Take[]) => this.takeAll(asked));

  constructor(
    private readonly link: RedisLink,
    private readonly local: MemoryRateLimiter,
    /** Unix milliseconds in place of Redis' clock, for tests. */
    private readonly nowMs?: () => number,
  ) {}

  take(key: string, policy: RatePolicy): Promise<RateVerdict> | RateVerdict {
    return this.link.isUp ? this.takeShared(key, policy) : this.takeLocal(key, policy);
  }

  giveBack(key: string, policy: RatePolicy): void {
    this.local.giveBack(key, policy);
    const unsent = this.unsent.get(key);
    if (unsent !== undefined && unsent > 0) this.unsent.set(key, unsent - 1);
    else
      this.run(GIVE_BACK, GIVE_BACK_SHA, {
        keys: [PREFIX + key],
        args: [policy.rate],
      }).catch(() => undefined);
  }

  private async takeShared(key: string, policy: RatePolicy): Promise<RateVerdict> {
    let taken: Taken;
    try {
      taken = await this.takes.ask({ key, policy });
    } catch {
      // The link has told whoever needs to know. Perhaps it was counted there: then once too often.
      return this.takeLocal(key, policy);
    }
    this.local.note(key, taken.owedMs);
    return verdictOf(policy, taken);
  }

  private async takeAll(asked: readonly Take[]): Promise<Taken[]> {
    const keys = asked.map(({ key }) => PREFIX + key);
    const args: (string | number)[] = [this.nowMs?.() ?? ''];
    for (const { key, policy } of asked) {
      args.push(policy.rate, policy.burst, this.carriedMs(key, policy));
    }
    const owed = await this.run(TAKE, TAKE_SHA, { keys, args });
    if (!Array.isArray(owed) || owed.length !== asked.length) {
      throw new TypeError('The script answers with as many numbers as there are keys');
    }
    return owed.map(takenFrom);
  }

  private takeLocal(key: string, policy: RatePolicy): RateVerdict {
    const verdict = this.local.take(key, policy);
    if (verdict.allowed && this.unsent.size < MAX_UNSENT) {
      this.unsent.set(key, (this.unsent.get(key) ?? 0) + 1);
    }
    return verdict;
  }

  /** What was admitted here without Redis and is still owed. */
  private carriedMs(key: string, { rate }: RatePolicy): number {
    if (this.unsent.size === 0) return 0;
    const unsent = this.unsent.get(key);
    if (unsent === undefined) return 0;
    this.unsent.delete(key);
    return Math.min((unsent * 1000) / rate, this.local.owedMs(key));
  }

  private run(
    script: string,
    sha: string,
    { keys, args }: { keys: readonly string[]; args: readonly (string | number)[] },
  ): Promise<unknown> {
    return this.link.run(async (redis) => {
      try {
        return await redis.evalsha(sha, keys.length, ...keys, ...args);
      } catch (error) {
        // Redis was started anew, or this is the first time.
        if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
        return redis.eval(script, keys.length, ...keys, ...args);
      }
    });
  }
}

interface Take {
  readonly key: string;
  readonly policy: RatePolicy;
}

function takenFrom(reply: unknown): Taken {
  const owed = Number(reply);
  if (!Number.isFinite(owed)) throw new TypeError('The script answers with a number');
  return owed < 0 ? { allowed: false, owedMs: -1 - owed } : { allowed: true, owedMs: owed };
}
