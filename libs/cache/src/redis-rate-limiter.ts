import {
  type MemoryRateLimiter,
  type RateLimiter,
  type RatePolicy,
  type RateVerdict,
  type Taken,
  verdictOf,
} from './rate-limiter.js';
import { type RedisLink } from './redis-link.js';
import { scriptOf, Scripts, TurnBatch } from './scripts.js';

export interface RedisRateLimiterOptions {
  readonly link: RedisLink;
  /** Counts while Redis is out. */
  readonly own: MemoryRateLimiter;
  /** Name of the service, where several services use one Redis; absent: the api. */
  readonly family?: string;
  /** Unix milliseconds in place of the clock of Redis, for tests. */
  readonly nowMs?: () => number;
}

/**
 * Counts for all processes of a service together, in Redis. While Redis is out each process counts by itself and admits
 * its part of the limits. The two counts know nothing of each other, so a caller may have one more burst when Redis
 * goes out, and another one when it is back.
 */
export class RedisRateLimiter implements RateLimiter {
  private readonly link: RedisLink;
  private readonly own: MemoryRateLimiter;
  private readonly scripts: Scripts;
  private readonly prefix: string;
  private readonly takes = new TurnBatch((asked: readonly Take[]) => this.takeAll(asked));

  constructor({ link, own, family, nowMs }: RedisRateLimiterOptions) {
    this.link = link;
    this.own = own;
    this.scripts = new Scripts(link, nowMs);
    this.prefix = family === undefined ? 'lowmark:limit:' : `lowmark:${family}:limit:`;
  }

  take(key: string, policy: RatePolicy, count = 1): Promise<RateVerdict> | RateVerdict {
    if (!this.link.isUp) return this.own.take(key, policy, count);
    return this.takeShared({ key, policy, count });
  }

  giveBack(key: string, policy: RatePolicy): void {
    if (!this.link.isUp) {
      this.own.giveBack(key, policy);
      return;
    }
    this.scripts
      .run(GIVE_BACK, { keys: [this.prefix + key], args: [policy.rate] })
      .catch(() => undefined);
  }

  private async takeShared(asked: Take): Promise<RateVerdict> {
    const { key, policy, count } = asked;
    try {
      return verdictOf(policy, await this.takes.ask(asked), { count });
    } catch {
      // The link has logged the error. Redis may have counted the request all the same, which then counts twice.
      return this.own.take(key, policy, count);
    }
  }

  /**
   * @throws RedisUnavailableError
   * @throws TypeError where the answer of Redis has another form
   */
  private async takeAll(asked: readonly Take[]): Promise<Taken[]> {
    const reply = await this.scripts.run(TAKE, {
      keys: asked.map(({ key }) => this.prefix + key),
      args: asked.flatMap(({ policy, count }) => [policy.rate, policy.burst, count]),
    });
    const owed = Array.isArray(reply) ? reply.map(Number) : [];
    if (owed.length !== asked.length || !owed.every(Number.isFinite)) {
      throw new TypeError('The script answers with as many numbers as there are keys');
    }
    return owed.map(takenFrom);
  }
}

interface Take {
  readonly key: string;
  readonly policy: RatePolicy;
  readonly count: number;
}

function takenFrom(owed: number): Taken {
  return owed < 0 ? { allowed: false, owedMs: -1 - owed } : { allowed: true, owedMs: owed };
}

/**
 * The arithmetic of `rate-limiter.ts` for all processes. It uses the clock of Redis, so that they agree on the time.
 * One command counts many requests, one after the other.
 *
 * Each key holds the time at which a bucket will be full again, in Unix milliseconds. ARGV: for each key the rate, the
 * burst and the number of requests. Returns the debt of each key in milliseconds; for a refused request -1 minus the
 * debt.
 */
const TAKE = scriptOf(`
local owed = {}
for place, key in ipairs(KEYS) do
  local per_request = 1000 / tonumber(ARGV[3 * place - 1])
  local capacity = per_request * tonumber(ARGV[3 * place])
  local cost = per_request * tonumber(ARGV[3 * place + 1])
  local debt = (tonumber(redis.call('GET', key)) or 0) - now
  if debt > capacity + 1000 or debt < 0 then debt = 0 end
  debt = math.min(debt, capacity)
  local allowed = debt + cost <= capacity + 0.001
  if allowed then
    debt = debt + cost
    redis.call('SET', key, string.format('%.17g', now + debt), 'PX', string.format('%.0f', debt + 10000))
  end
  owed[place] = string.format('%.17g', allowed and debt or -1 - debt)
end
return owed
`);

/** KEYS[1] is the key of a bucket. ARGV: the rate. */
export const GIVE_BACK = scriptOf(`
local full_at = tonumber(redis.call('GET', KEYS[1]))
if full_at then
  redis.call('SET', KEYS[1], string.format('%.17g', full_at - 1000 / tonumber(ARGV[2])), 'KEEPTTL')
end
return '0'
`);
