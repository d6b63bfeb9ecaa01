import { type Clock, type Logger } from '#libs/platform';
import { RedisLink } from './redis/redis-link.js';
import { traceRoundTrips } from './redis/trace-round-trips.js';
import { MemoryRateLimiter, type RateLimiter } from './limits/rate-limiter.js';
import { RedisRateLimiter } from './limits/redis-rate-limiter.js';

/** What the replicas of one service share through Redis, or its replacement in one process without Redis. */
export interface Sharing {
  readonly limiter: RateLimiter;
  /** Undefined without `REDIS_URL`. */
  readonly redis: RedisLink | undefined;
}

/** Time that a start waits for Redis, in milliseconds, so that the first requests too are counted for all replicas. */
const START_MS = 1000;
/**
 * Time that a start without Redis waits further, in milliseconds. The other replicas need this long to count this
 * replica; until then their shares of the limits add up to the whole.
 */
const PEERS_UPDATED_MS = 1500;

export interface SharingOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Unique to this replica. */
  readonly id: string;
  /** Name of the service, where several services use the same Redis; absent: the api. */
  readonly family?: string;
  /** Number of live replicas, this one included; counted without Redis. */
  readonly countReplicas: () => Promise<number>;
  /** Greatest possible number of live replicas, for a service whose replicas cannot be counted. */
  readonly replicasAtMost?: number | undefined;
  /** Timeout of a Redis command in milliseconds; absent: the default of `RedisLink`. */
  readonly redisDeadlineMs?: number | undefined;
}

/** @param url of Redis, never logged; undefined: the limits are counted in this process */
export async function createSharing(
  url: string | undefined,
  { clock, logger, id, family, countReplicas, replicasAtMost, redisDeadlineMs }: SharingOptions,
): Promise<Sharing> {
  if (url === undefined) return { limiter: new MemoryRateLimiter(clock), redis: undefined };
  const redis = new RedisLink({
    url,
    ...(redisDeadlineMs !== undefined && { deadlineMs: redisDeadlineMs }),
    onChange: (isUp, reason) => {
      if (isUp) logger.info('Redis is used: limits and cached parts are shared');
      else logger.warn({ reason }, 'Redis is not used: this replica limits and caches by itself');
    },
  });
  traceRoundTrips(redis);
  const limiter = new RedisRateLimiter({
    link: redis,
    id,
    ...(family !== undefined && { family }),
    ...(replicasAtMost === undefined
      ? { countReplicas: warnOnZero(countReplicas, logger) }
      : { countReplicas: () => Promise.resolve(0), replicasAtMost }),
  });
  const isUp = await redis.whenUp(START_MS);
  await limiter.start();
  if (!isUp) await redis.whenUp(PEERS_UPDATED_MS);
  return { limiter, redis };
}

/**
 * Warns once when the count is 0. A replica always counts itself, so 0 means that counting does not work; the limiter
 * then keeps its previous count.
 */
function warnOnZero(count: () => Promise<number>, logger: Logger): () => Promise<number> {
  let told = false;
  return async () => {
    const replicas = await count();
    if (replicas === 0 && !told) {
      told = true;
      logger.warn(
        'Replicas cannot be counted: this one does not see itself among the connections to the database, and limits may not hold ' +
          'while Redis is away. Connect to PostgreSQL itself, or let nothing in between change application_name',
      );
    }
    return replicas;
  };
}
