import { Global, Module } from '@nestjs/common';
import { createSharing, RedisTexts, type Sharing } from '#libs/cache';
import { Database, openOwnDatabase, RequestLogStore } from '#libs/db';
import { type Clock, CLOCK, type Logger } from '#libs/platform';
import { LOGGER, provide } from '#libs/service';
import { ApiSettings } from './api.env.js';
import { RequestLog } from './requests/request-log.js';

export const RATE_LIMITER = Symbol('RateLimiter');
/** Undefined without REDIS_URL. */
export const REDIS = Symbol('RedisLink');
/** Undefined without REDIS_URL. */
export const SHARED_TEXTS = Symbol('RedisTexts');
/** Longest time for a Redis command, in milliseconds. Undefined: the default of the Redis link. */
export const REDIS_DEADLINE_MS = Symbol('RedisDeadlineMs');

/** Resources to close after the last answer, in this order. */
export const RESOURCES_TO_CLOSE = Symbol('Resources to close');

const SHARING = Symbol('Sharing');

/** Connections of a process, of the 100 that PostgreSQL has by default for all programs. */
const POOL_SIZE = 8;

/**
 * The connections that live as long as the api: the database as a read-only role, the request log, and Redis where it
 * is configured.
 */
@Global()
@Module({
  providers: [
    { provide: Database, inject: [ApiSettings, LOGGER], useFactory: openDatabase },
    {
      provide: SHARING,
      inject: [ApiSettings, LOGGER, CLOCK, REDIS_DEADLINE_MS],
      useFactory: openSharing,
    },
    { provide: RATE_LIMITER, inject: [SHARING], useFactory: ({ limiter }: Sharing) => limiter },
    { provide: REDIS, inject: [SHARING], useFactory: ({ redis }: Sharing) => redis },
    provide(RequestLogStore, Database),
    RequestLog,
    {
      provide: RESOURCES_TO_CLOSE,
      inject: [RequestLog, REDIS, Database],
      useFactory: (...opened: unknown[]) => opened,
    },
    {
      provide: SHARED_TEXTS,
      inject: [SHARING],
      useFactory: ({ redis }: Sharing) => redis && new RedisTexts(redis),
    },
  ],
  exports: [Database, RequestLog, RESOURCES_TO_CLOSE, RATE_LIMITER, REDIS, SHARED_TEXTS],
})
export class ConnectionsModule {}

function openDatabase(
  { databaseUrl: url, databaseDirectUrl, nodeEnv }: ApiSettings,
  logger: Logger,
): Promise<Database> {
  const isPooled = databaseDirectUrl !== undefined;
  return openOwnDatabase(
    { program: 'api', nodeEnv, logger },
    { url, isPooled, applicationName: 'lowmark api', poolSize: POOL_SIZE, readOnly: true },
  );
}

function openSharing(
  { redisUrl, replicas }: ApiSettings,
  logger: Logger,
  clock: Clock,
  redisDeadlineMs: number | undefined,
): Promise<Sharing> {
  return createSharing(redisUrl, { clock, logger, replicas, redisDeadlineMs });
}
