import { MemoryRateLimiter, type RateLimiter, RedisLink, RedisRateLimiter } from '#libs/cache';
import { type Clock, type Logger } from '#libs/platform';

/** What replicas of the API share, or what stands in for it in one process. */
export interface Sharing {
  readonly limiter: RateLimiter;
  /** Absent without REDIS_URL. */
  readonly redis: RedisLink | undefined;
}

/** So that the first requests after a start are counted for all replicas too; without Redis a start takes so much longer. */
const START_MS = 1000;

/** @param url of Redis, if any; never shown */
export async function createSharing(
  url: string | undefined,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<Sharing> {
  const local = new MemoryRateLimiter(clock);
  if (url === undefined) return { limiter: local, redis: undefined };
  const redis = new RedisLink({
    url,
    onChange: (isUp, reason) => {
      if (isUp) logger.info('Redis is used: limits and cached parts are shared');
      else logger.warn({ reason }, 'Redis is not used: this replica limits and caches by itself');
    },
  });
  await redis.whenUp(START_MS);
  return { limiter: new RedisRateLimiter(redis, local), redis };
}
