import { requireReplicasAtMost } from '#libs/config';
import { randomUUID } from 'node:crypto';
import { Global, Module } from '@nestjs/common';
import { createSharing, RedisTexts, type Sharing } from '#libs/cache';
import { countPrograms, Database, openOwnDatabase, RequestLogStore } from '#libs/db';
import { type Clock, CLOCK, type Logger } from '#libs/platform';
import { LOGGER, provide } from '#libs/service';
import { ApiSettings } from './api.env.js';
import { RequestLog } from './requests/request-log.js';
import { Standbys } from './standbys/standbys.js';

export const RATE_LIMITER = Symbol('RateLimiter');
/** Undefined without REDIS_URL. */
export const REDIS = Symbol('RedisLink');
/** Undefined without REDIS_URL. */
export const SHARED_TEXTS = Symbol('RedisTexts');
/** How long a command to Redis may take; undefined: as long as the link lets it. */
export const REDIS_DEADLINE_MS = Symbol('RedisDeadlineMs');

/** What is closed after the last answer, in this order. */
export const OPENED = Symbol('Opened');

const REPLICA_ID = Symbol('ReplicaId');
const SHARING = Symbol('Sharing');

/** Replicas with Redis are told apart, and counted, by the name of their connections to the database. */
const SHARING_NAME = 'lowmark api ';

/** What the api holds open for as long as it lives: the database, with the role that only reads, and Redis where there is one. */
@Global()
@Module({
  providers: [
    { provide: REPLICA_ID, useFactory: () => randomUUID().slice(0, 8) },
    { provide: Database, inject: [ApiSettings, LOGGER, REPLICA_ID], useFactory: openDatabase },
    {
      provide: SHARING,
      inject: [ApiSettings, LOGGER, REPLICA_ID, Database, CLOCK, REDIS_DEADLINE_MS],
      useFactory: openSharing,
    },
    { provide: RATE_LIMITER, inject: [SHARING], useFactory: ({ limiter }: Sharing) => limiter },
    { provide: REDIS, inject: [SHARING], useFactory: ({ redis }: Sharing) => redis },
    {
      provide: Standbys,
      inject: [ApiSettings, LOGGER, REPLICA_ID, Database, CLOCK],
      useFactory: openStandbys,
    },
    provide(RequestLogStore, Database),
    RequestLog,
    {
      provide: OPENED,
      inject: [RequestLog, REDIS, Standbys, Database],
      useFactory: (...opened: unknown[]) => opened,
    },
    {
      provide: SHARED_TEXTS,
      inject: [SHARING],
      useFactory: ({ redis }: Sharing) => redis && new RedisTexts(redis),
    },
  ],
  exports: [Database, RequestLog, Standbys, OPENED, RATE_LIMITER, REDIS, SHARED_TEXTS],
})
export class ConnectionsModule {}

function openDatabase(
  { databaseUrl, databaseDirectUrl: directUrl, redisUrl, apiPoolSize, nodeEnv }: ApiSettings,
  logger: Logger,
  id: string,
  url = databaseUrl,
): Promise<Database> {
  // Those who share limits are counted by it.
  const applicationName = redisUrl === undefined ? 'lowmark api' : `${SHARING_NAME}${id}`;
  return openOwnDatabase(
    { program: 'api', nodeEnv, logger },
    { url, directUrl, applicationName, poolSize: apiPoolSize, readOnly: true },
  );
}

/** They are connected to in the background: the api starts and serves without them. */
function openStandbys(
  settings: ApiSettings,
  logger: Logger,
  id: string,
  ...[primary, clock]: [Database, Clock]
): Standbys {
  return new Standbys({
    urls: settings.databaseReadUrls ?? [],
    maxLagMs: settings.readMaxLagSeconds * 1000,
    primary,
    open: (url) => openDatabase(settings, logger, id, url),
    ...{ clock, logger },
  });
}

function openSharing(
  settings: ApiSettings,
  logger: Logger,
  id: string,
  ...[database, clock, redisDeadlineMs]: [Database, Clock, number | undefined]
): Promise<Sharing> {
  const countReplicas = (): Promise<number> => countPrograms(database, SHARING_NAME);
  const replicasAtMost = requireReplicasAtMost(settings);
  const options = { clock, logger, id, countReplicas, replicasAtMost, redisDeadlineMs };
  return createSharing(settings.redisUrl, options);
}
