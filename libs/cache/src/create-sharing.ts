import { type Clock, type Logger } from '#libs/platform';
import { RedisLink } from './redis-link.js';
import { traceRoundTrips } from './trace-round-trips.js';
import { MemoryRateLimiter, type RateLimiter } from './rate-limiter.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';

/** What the processes of one service share through Redis, or its replacement in one process without Redis. */
export interface Sharing {
  readonly limiter: RateLimiter;
  /** Undefined without `REDIS_URL`. */
  readonly redis: RedisLink | undefined;
}

/** Time that a start waits for Redis, in milliseconds, so that the first requests too are counted for all processes. */
const START_MS = 1000;

const NOT_USED =
  'Redis is not used: this replica limits and caches by itself. `doctor` says what to do';

export interface SharingOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of the service, where several services use the same Redis; absent: the api. */
  readonly family?: string;
  /** Number of processes of the service. Without Redis this one admits the limits divided by it. */
  readonly replicas: number;
  /** Timeout of a Redis command in milliseconds; absent: the default of `RedisLink`. */
  readonly redisDeadlineMs?: number | undefined;
}

/** @param url of Redis, never logged; undefined: the limits are counted in this process */
export async function createSharing(
  url: string | undefined,
  { clock, logger, family, replicas, redisDeadlineMs }: SharingOptions,
): Promise<Sharing> {
  const own = new MemoryRateLimiter(clock, { replicas });
  if (url === undefined) return { limiter: own, redis: undefined };
  const server = new URL(url).host;
  const redis = new RedisLink({
    url,
    ...(redisDeadlineMs !== undefined && { deadlineMs: redisDeadlineMs }),
    onChange: (isUp, reason) => {
      if (isUp) logger.info({ server }, 'Redis is used: limits and cached parts are shared');
      else logger.warn({ server, reason }, NOT_USED);
    },
  });
  traceRoundTrips(redis);
  await redis.whenUp(START_MS);
  const limiter = new RedisRateLimiter({
    link: redis,
    own,
    ...(family !== undefined && { family }),
  });
  return { limiter, redis };
}
