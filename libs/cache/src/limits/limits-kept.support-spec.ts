/** Replicas with a Redis that comes and goes, on a clock that is put forward: as much of a deployment as limits are about. */
import { type Redis } from 'ioredis';
import { FakeClock } from '#libs/testing';
import { type RedisLink, RedisUnavailableError } from '../redis/redis-link.js';
import { agreementKeys, BEAT_MS } from './attendance.js';
import { LEASE_MS } from './own-share.js';
import { type RatePolicy } from './rate-limiter.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';

const { agreed: AGREED_KEY, replicas: REPLICAS_KEY } = agreementKeys();

/** As an API waits where there is no Redis at its start. */
const START_MS = 2500;

/** One replica's way to Redis, which can be cut. */
class Way {
  isUp = true;
  timesUp = 1;

  constructor(private readonly link: RedisLink) {}

  get closed(): AbortSignal {
    return this.link.closed;
  }

  cut(): void {
    this.isUp = false;
  }

  mend(): void {
    if (this.isUp) return;
    this.isUp = true;
    this.timesUp += 1;
  }

  run<T>(send: (redis: Redis) => Promise<T>): Promise<T> {
    return this.isUp ? this.link.run(send) : Promise.reject(new RedisUnavailableError('cut'));
  }
}

interface Replica {
  readonly way: Way;
  readonly limiter: RedisRateLimiter;
  /** Admitted while its way was cut. */
  admittedApart: number;
}

export class Deployment {
  readonly clock = new FakeClock(1_800_000_000_000);
  readonly replicas: Replica[] = [];
  /** What one caller really owes: each request counted once, by arithmetic of its own. */
  owedMs = 0;
  /** What starts without Redis and deaths may add to the bound; see `own-share.ts`. */
  allowanceMs = 0;
  /** Whether the database tells how many there are. */
  counts = true;
  private started = 0;

  constructor(
    private readonly link: RedisLink,
    private readonly key: string,
    readonly policy: RatePolicy,
  ) {}

  get perRequestMs(): number {
    return 1000 / this.policy.rate;
  }

  get burstMs(): number {
    return this.perRequestMs * this.policy.burst;
  }

  /** The requests admitted of so many at once. */
  async take(place: number, times: number): Promise<number> {
    const replica = this.at(place);
    const verdicts = await Promise.all(
      Array.from({ length: times }, async () => replica.limiter.take(this.key, this.policy)),
    );
    // A replica that has found Redis again tells it before the next request.
    await replica.limiter.beat();
    const admitted = verdicts.filter(({ allowed }) => allowed).length;
    this.owedMs += admitted * this.perRequestMs;
    if (!replica.way.isUp) replica.admittedApart += admitted;
    return admitted;
  }

  /** One request that stands for so many. */
  async takeBatch(place: number, count: number): Promise<boolean> {
    const replica = this.at(place);
    const { allowed } = await replica.limiter.take(this.key, this.policy, count);
    await replica.limiter.beat();
    if (!allowed) return false;
    this.owedMs += count * this.perRequestMs;
    if (!replica.way.isUp) replica.admittedApart += count;
    return true;
  }

  async pass(milliseconds: number): Promise<void> {
    for (let leftMs = milliseconds; leftMs > 0; leftMs -= BEAT_MS) {
      const stepMs = Math.min(BEAT_MS, leftMs);
      this.clock.advance(stepMs);
      this.owedMs = Math.max(0, this.owedMs - stepMs);
      for (const { limiter } of this.replicas) await limiter.beat();
    }
  }

  async start(): Promise<void> {
    const way = new Way(this.link);
    // The server is away, or the network of all.
    if (this.replicas.length > 0 && this.replicas.every((one) => !one.way.isUp)) way.cut();
    const limiter = new RedisRateLimiter({
      link: way,
      id: String(this.started++),
      countReplicas: () => Promise.resolve(this.counts ? this.replicas.length : 0),
      nowMs: () => this.clock.nowMs(),
    });
    this.replicas.push({ way, limiter, admittedApart: 0 });
    await limiter.beat();
    if (way.isUp) return;
    await this.pass(START_MS);
    this.allowanceMs += (LEASE_MS + this.burstMs) / this.replicas.length;
  }

  /** At once, as by SIGKILL. The last one stays. */
  die(place: number): void {
    if (this.replicas.length === 1) return;
    const [dead] = this.replicas.splice(place % this.replicas.length, 1);
    this.allowanceMs += Math.min(this.burstMs, (dead?.admittedApart ?? 0) * this.perRequestMs);
  }

  cut(place?: number): void {
    for (const { way } of place === undefined ? this.replicas : [this.at(place)]) way.cut();
  }

  mend(place?: number): void {
    for (const { way } of place === undefined ? this.replicas : [this.at(place)]) way.mend();
  }

  /** The server is started anew: with nothing, or with what it once wrote to its disk. */
  async restart({ empty }: { empty: boolean }): Promise<void> {
    this.cut();
    await this.link.run(async (redis) => {
      if (empty) await redis.del(AGREED_KEY, REPLICAS_KEY, `lowmark:limit:${this.key}`);
      else await redis.hset(AGREED_KEY, 'run', 'another');
    });
  }

  private at(place: number): Replica {
    const replica = this.replicas[place % this.replicas.length];
    if (replica === undefined) throw new RangeError('There is always a replica');
    return replica;
  }
}
