import { SingleFlight, sleep } from '#libs/platform';
import {
  type AgreementKeys,
  agreementKeys,
  ReplicaCounter,
  HEARTBEAT_MS,
} from './replica-counter.js';
import { LocalShare } from './local-share.js';
import {
  capacityMsOf,
  type RateLimiter,
  type RatePolicy,
  type RateVerdict,
  type Taken,
  verdictOf,
} from './rate-limiter.js';
import { type RedisConnection } from '../redis/redis-link.js';
import { scriptOf, Scripts, TurnBatch } from '../redis/scripts.js';

/** Debts per `SETTLE` command, few enough that Redis serves other clients in between. */
const SETTLED_AT_ONCE = 200;

export interface RedisRateLimiterOptions {
  readonly link: RedisConnection;
  /** Unique to this replica. */
  readonly id: string;
  /** Name of the service, where several services use one Redis; absent: the api. */
  readonly family?: string;
  /** Number of live replicas, this one included. Where counting fails or yields 0, the previous number holds. */
  readonly countReplicas: () => Promise<number>;
  /** Greatest possible number of live replicas, where they are not counted. */
  readonly replicasAtMost?: number;
  /** Unix milliseconds in place of every clock, for tests. */
  readonly nowMs?: () => number;
}

/**
 * Counts for all replicas together. Without Redis each replica admits its share of the limits, and moves its debts to
 * Redis as soon as Redis is back. `local-share.ts` says how that keeps the limits.
 */
export class RedisRateLimiter implements RateLimiter {
  private readonly link: RedisConnection;
  private readonly scripts: Scripts;
  private readonly counter: ReplicaCounter;
  private readonly own: LocalShare;
  private readonly takes = new TurnBatch((asked: readonly Take[]) => this.takeAll(asked));
  private readonly keys: AgreementKeys;
  private readonly beats = new SingleFlight<void>();

  constructor({ link, id, family, countReplicas, replicasAtMost, nowMs }: RedisRateLimiterOptions) {
    this.link = link;
    this.keys = agreementKeys(family);
    this.scripts = new Scripts(link, nowMs);
    const steadyMs = nowMs ?? (() => performance.now());
    this.counter = new ReplicaCounter(link, {
      scripts: this.scripts,
      keys: this.keys,
      id,
      countReplicas,
      replicasAtMost,
      nowMs: steadyMs,
    });
    this.own = new LocalShare(steadyMs);
  }

  /** Sends heartbeats until the link is closed. Resolves once Redis counts requests, or cannot be used. */
  async start(): Promise<void> {
    const timer = setInterval(() => void this.beat(), HEARTBEAT_MS).unref();
    this.link.closed.addEventListener('abort', () => {
      clearInterval(timer);
    });
    await this.beat();
    while (this.link.isUp && !this.counter.isRegistered && !this.link.closed.aborted) {
      await sleep(HEARTBEAT_MS);
      await this.beat();
    }
  }

  /** Single-flight: a concurrent call waits for the current beat. Never throws. */
  beat(): Promise<void> {
    return this.beats.run(() => this.attend());
  }

  take(key: string, policy: RatePolicy, count = 1): Promise<RateVerdict> | RateVerdict {
    if (this.counter.isRegistered) return this.takeShared({ key, policy, count });
    // Redis is back, but has not counted this replica yet: a beat makes it do so, and this process counts the request.
    if (this.link.isUp) void this.beat();
    return this.own.take(key, policy, count);
  }

  giveBack(key: string, policy: RatePolicy): void {
    if (this.own.giveBack(key, policy)) return;
    this.scripts
      .run(GIVE_BACK, { keys: [this.keys.limit + key], args: [policy.rate] })
      .catch(() => undefined);
  }

  private async takeShared(asked: Take): Promise<RateVerdict> {
    const { key, policy, count } = asked;
    let answer: Answer;
    try {
      answer = await this.takes.ask(asked);
    } catch {
      // The link has logged the error. Redis may have counted the request all the same, which then counts twice.
      return this.own.take(key, policy, count);
    }
    const { taken, weight } = answer;
    this.own.note(key, taken.owedMs);
    return verdictOf(policy, taken, { weight, count });
  }

  private async takeAll(asked: readonly Take[]): Promise<Answer[]> {
    const keys = [this.keys.agreed, ...asked.map(({ key }) => this.keys.limit + key)];
    const { weight } = this.counter;
    const args = [weight];
    for (const { policy, count } of asked) args.push(policy.rate, policy.burst, count);
    const owed = await this.numbers(TAKE, { keys, args });
    return owed.map((one) => ({ taken: takenFrom(one), weight }));
  }

  private async attend(): Promise<void> {
    await this.counter.beat();
    const { isRegistered, replicas, isAlone } = this.counter;
    if (isRegistered) this.own.join();
    else this.own.leave();
    this.own.divide(replicas, isAlone);
    if (isRegistered) await this.settle().catch(() => undefined);
  }

  /**
   * Moves the debts of this replica to Redis. A part that does not fit below a whole burst stays until the next beat.
   */
  private async settle(): Promise<void> {
    const owed = this.own.owed();
    for (let from = 0; from < owed.length && this.counter.isRegistered; from += SETTLED_AT_ONCE) {
      const some = owed.slice(from, from + SETTLED_AT_ONCE);
      const moved = await this.numbers(SETTLE, {
        keys: [this.keys.agreed, ...some.map(({ key }) => this.keys.limit + key)],
        args: some.flatMap(({ policy, owedMs }) => [capacityMsOf(policy), owedMs]),
      });
      for (const [place, { key }] of some.entries()) this.own.settle(key, moved[place] ?? 0);
    }
  }

  /**
   * @throws RedisUnavailableError
   * @throws TypeError where Redis has lost the key `agreed`, or its answer has another form
   */
  private async numbers(
    script: typeof TAKE,
    { keys, args }: { keys: readonly string[]; args: readonly number[] },
  ): Promise<number[]> {
    const reply = await this.scripts.run(script, { keys, args });
    const numbers = Array.isArray(reply) ? reply.map(Number) : [];
    if (numbers.length !== keys.length - 1 || !numbers.every(Number.isFinite)) {
      this.counter.forget();
      throw new TypeError('The script answers with as many numbers as there are keys');
    }
    return numbers;
  }
}

interface Take {
  readonly key: string;
  readonly policy: RatePolicy;
  readonly count: number;
}

interface Answer {
  readonly taken: Taken;
  readonly weight: number;
}

function takenFrom(owed: number): Taken {
  return owed < 0 ? { allowed: false, owedMs: -1 - owed } : { allowed: true, owedMs: owed };
}

/**
 * The arithmetic of `rate-limiter.ts` for all replicas. It uses the clock of Redis, so that they agree on the time. One
 * command counts many requests, one after the other.
 *
 * KEYS[1] is the hash of `ATTEND` in `replica-counter.ts`; without that hash the answer is empty and nothing is counted.
 * Each other key holds the time at which a bucket will be full again, in Unix milliseconds. ARGV: the weight of a
 * request; after that for each key the rate, the burst and the number of requests. Returns the debt of each key in
 * milliseconds; for a refused request -1 minus the debt.
 */
const TAKE = scriptOf(`
local lost = tonumber(redis.call('HGET', KEYS[1], 'lost'))
if not lost then return {} end
local owed = {}
for place = 1, #KEYS - 1 do
  local key = KEYS[place + 1]
  local full_request = 1000 / tonumber(ARGV[3 * place])
  local burst = full_request * tonumber(ARGV[3 * place + 1])
  local per_request = full_request * tonumber(ARGV[2])
  local capacity = math.max(burst, per_request)
  local cost = per_request * tonumber(ARGV[3 * place + 2])
  local debt = (tonumber(redis.call('GET', key)) or 0) - now
  if debt > capacity + 1000 or debt < 0 then debt = 0 end
  debt = math.min(debt, capacity)
  if lost > 0 then debt = math.max(debt, math.min(burst, lost + burst - now)) end
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

/**
 * Moves debts to the accounts in Redis, each as far as it fits below a whole burst. KEYS as for `TAKE`. ARGV: for each
 * key a whole burst and the debt, both in milliseconds. Returns how much of each debt was moved.
 */
const SETTLE = scriptOf(`
local lost = tonumber(redis.call('HGET', KEYS[1], 'lost'))
if not lost then return {} end
local moved = {}
for place = 1, #KEYS - 1 do
  local key = KEYS[place + 1]
  local burst = tonumber(ARGV[2 * place])
  local debt = (tonumber(redis.call('GET', key)) or 0) - now
  if debt < 0 then debt = 0 end
  if lost > 0 then debt = math.max(debt, math.min(burst, lost + burst - now)) end
  local fits = math.min(tonumber(ARGV[2 * place + 1]), math.max(0, burst - debt))
  if fits > 0 then
    debt = debt + fits
    redis.call('SET', key, string.format('%.17g', now + debt), 'PX', string.format('%.0f', debt + 10000))
  end
  moved[place] = string.format('%.17g', fits)
end
return moved
`);
