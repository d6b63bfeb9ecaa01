import { type Clock, type Logger } from '#libs/platform';
import { RedisLink } from './redis/redis-link.js';
import { traceRoundTrips } from './redis/trace-round-trips.js';
import { MemoryRateLimiter, type RateLimiter } from './limits/rate-limiter.js';
import { RedisRateLimiter } from './limits/redis-rate-limiter.js';

/** What replicas of one service share, or what stands in for it in one process. */
export interface Sharing {
  readonly limiter: RateLimiter;
  /** Absent without REDIS_URL. */
  readonly redis: RedisLink | undefined;
}

/** So that the first requests after a start are counted for all replicas too. */
const START_MS = 1000;
/** Without Redis the others go on with shares that leave nothing to this replica until they have counted it. */
const COUNTED_MS = 1500;

export interface SharingOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of this replica alone. */
  readonly id: string;
  /** Of the service, where others use the same Redis; absent: the api. */
  readonly family?: string;
  /** How many replicas live, this one included, whether or not there is Redis. */
  readonly countReplicas: () => Promise<number>;
  /** Where they cannot be counted: how many may live. */
  readonly replicasAtMost?: number | undefined;
  /** How long a command to Redis may take; absent: the link's own. */
  readonly redisDeadlineMs?: number | undefined;
}

/** @param url of Redis, if any; never shown */
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
      ? { countReplicas: tellingOfNone(countReplicas, logger) }
      : { countReplicas: () => Promise.resolve(0), replicasAtMost }),
  });
  const isUp = await redis.whenUp(START_MS);
  await limiter.start();
  if (!isUp) await redis.whenUp(COUNTED_MS);
  return { limiter, redis };
}

/** A replica always sees itself: a count of none is no count, which the limiter bears, and is told once. */
function tellingOfNone(count: () => Promise<number>, logger: Logger): () => Promise<number> {
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
