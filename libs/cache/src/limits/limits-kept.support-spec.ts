/** Replicas, a Redis that can be cut off, and a clock that tests advance: the parts that limits depend on. */
import { type Redis } from 'ioredis';
import { FakeClock } from '#libs/testing';
import { type RedisLink, RedisUnavailableError } from '../redis/redis-link.js';
import { agreementKeys, HEARTBEAT_MS } from './replica-counter.js';
import { LEASE_MS } from './local-share.js';
import { type RatePolicy } from './rate-limiter.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';

const { agreed: AGREED_KEY, replicas: REPLICAS_KEY } = agreementKeys();

/** Milliseconds that an API without Redis waits at its start. */
const START_MS = 2500;

/** The connection of one replica to Redis, which a test can cut. */
class Way {
  isUp = true;
  connectionCount = 1;

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
    this.connectionCount += 1;
  }

  run<T>(send: (redis: Redis) => Promise<T>): Promise<T> {
    return this.isUp ? this.link.run(send) : Promise.reject(new RedisUnavailableError('cut'));
  }
}

interface Replica {
  readonly way: Way;
  readonly limiter: RedisRateLimiter;
  /** Requests admitted while the connection was cut. */
  admittedApart: number;
}

export class Deployment {
  readonly clock = new FakeClock(1_800_000_000_000);
  readonly replicas: Replica[] = [];
  /** The true debt of one caller in milliseconds: each request counts once. Computed independently of the limiter. */
  owedMs = 0;
  /** Milliseconds that starts without Redis and deaths may add to the bound; see `local-share.ts`. */
  allowanceMs = 0;
  /** Whether the database can count the replicas. */
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

  /** Sends `times` requests at once. @returns the number of admitted requests */
  async take(place: number, times: number): Promise<number> {
    const replica = this.at(place);
    const verdicts = await Promise.all(
      Array.from({ length: times }, async () => replica.limiter.take(this.key, this.policy)),
    );
    // A replica that has Redis again reports this before the next request.
    await replica.limiter.beat();
    const admitted = verdicts.filter(({ allowed }) => allowed).length;
    this.owedMs += admitted * this.perRequestMs;
    if (!replica.way.isUp) replica.admittedApart += admitted;
    return admitted;
  }

  /** Sends one request that stands for `count` requests. */
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
    for (let leftMs = milliseconds; leftMs > 0; leftMs -= HEARTBEAT_MS) {
      const stepMs = Math.min(HEARTBEAT_MS, leftMs);
      this.clock.advance(stepMs);
      this.owedMs = Math.max(0, this.owedMs - stepMs);
      for (const { limiter } of this.replicas) await limiter.beat();
    }
  }

  async start(): Promise<void> {
    const way = new Way(this.link);
    // The server or the whole network is down.
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

  /** Ends a replica at once, as by SIGKILL. The last replica stays. */
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

  /** Restarts the server, either without data or with data that it had written to its disk. */
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
