import { randomBytes, randomUUID } from 'node:crypto';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { createSharing, RedisTexts } from '#libs/cache';
import {
  countPrograms,
  createDatabase,
  type Database,
  PartnerStore,
  requireOwnRights,
  SnapshotStore,
} from '#libs/db';
import { openRedis, refuseDevelopment } from '#libs/config';
import { PermanentError } from '#libs/domain';
import { type Clock, type Logger, systemClock } from '#libs/platform';
import { createHttpApp, measureConnections, measureRequests, Registry } from '#libs/service';
import { KeyRing } from '#libs/signing';
import { type ApiSettings } from './api.env.js';
import { ApiModule } from './api.module.js';
import { measureSharing } from './health/cache-metrics.js';
import { Admissions } from './http/keys/admission.js';
import { CredentialCache } from './http/keys/credential-cache.js';
import { LastUse } from './http/keys/last-use.js';
import { callerLoader } from './http/keys/load-caller.js';
import { MAX_BODY_BYTES, MAX_PARSED_HEAD_BYTES, SignedWire } from './http/signing/signed-wire.js';
import { CacheCounts } from './snapshots/cache-counts.js';
import { IndexNow } from './snapshots/index-now.js';
import { preparation } from './snapshots/preparation.js';
import { serveSnapshots } from './snapshots/snapshots.route.js';
import { SnapshotsService } from './snapshots/snapshots.service.js';
import { WalletParts } from './snapshots/wallet-parts.js';

/** Replicas with Redis are told apart, and counted, by the name of their connections to the database. */
const SHARING_NAME = 'lowmark api ';

export interface ApiOptions {
  readonly settings: ApiSettings;
  readonly logger: Logger;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** How long a command to Redis may take; default: 50. */
  readonly redisDeadlineMs?: number | undefined;
}

/**
 * The whole API, ready to listen; `close()` stops it and everything it opened.
 * @throws DatabaseUnavailableError, DatabaseRefusedError where there is no database to start with; PermanentError
 * DEBUGGER_REFUSED, DEVELOPMENT_SETTINGS, DATABASE_RIGHTS_EXCESSIVE in production
 */
export async function createApi({
  settings,
  logger,
  clock = systemClock,
  redisDeadlineMs,
}: ApiOptions): Promise<NestFastifyApplication> {
  if (settings.signatureDebugger && settings.nodeEnv === 'production') {
    throw new PermanentError(
      'DEBUGGER_REFUSED',
      'SIGNATURE_DEBUGGER hands out signatures and is not for production. Turn it off.',
    );
  }
  refuseDevelopment(settings.nodeEnv, [openRedis(settings.redisUrl)]);
  const id = randomUUID().slice(0, 8);
  const database = await createDatabase({
    url: settings.databaseUrl,
    // Those who share limits are counted by it.
    applicationName: settings.redisUrl === undefined ? 'lowmark api' : `${SHARING_NAME}${id}`,
    poolSize: settings.apiPoolSize,
    schema: 'current',
    readOnly: true,
    onError: (error) => {
      // The driver's error drags its whole connection along.
      logger.warn({ reason: error.message }, 'A database connection was lost');
    },
  });
  await requireReader(database, settings, logger);
  const keyRing = KeyRing.parse(settings.secretsKey);
  const { limiter, redis } = await createSharing(settings.redisUrl, {
    clock,
    logger,
    id,
    countReplicas: () => countPrograms(database, SHARING_NAME),
    redisDeadlineMs,
  });
  const partners = new PartnerStore(database);
  const lastUse = new LastUse((id) => partners.noteUse(id), clock, logger);
  const admissions = new Admissions(
    new CredentialCache(callerLoader(partners, keyRing), clock),
    limiter,
    settings.apiAnonSecret ?? randomBytes(32).toString('base64url'),
    (credentialId) => {
      lastUse.note(credentialId);
    },
  );
  const store = new SnapshotStore(database);
  const counts = new CacheCounts();
  const snapshots = new SnapshotsService(
    new WalletParts(store, counts, redis && new RedisTexts(redis)),
    new IndexNow(() => store.state()),
    clock,
    settings,
  );
  const app = await createHttpApp(ApiModule.register({ settings, database, clock, redis }), {
    logger,
    wire: () => new SignedWire(admissions, preparation(redis && snapshots)),
    // Nothing is logged of a request but its failure.
    followsRequests: false,
    server: {
      trustProxy: settings.trustedProxies ?? false,
      bodyLimit: MAX_BODY_BYTES,
      http: { maxHeaderSize: MAX_PARSED_HEAD_BYTES },
    },
  });
  const fastify = app.getHttpAdapter().getInstance();
  serveSnapshots(fastify, snapshots);
  const registry = app.get<Registry>(Registry);
  measureRequests(fastify, registry, 'lowmark_api_request_seconds');
  measureConnections(registry, database);
  measureSharing(registry, { admissions, redis });
  counts.register(registry);
  return app;
}

async function requireReader(
  database: Database,
  { nodeEnv }: ApiSettings,
  logger: Logger,
): Promise<void> {
  try {
    await requireOwnRights(database, 'api', {
      isProduction: nodeEnv === 'production',
      onExcess: (message) => {
        logger.warn({ code: 'DATABASE_RIGHTS_EXCESSIVE' }, message);
      },
    });
  } catch (error) {
    await database.close();
    throw error;
  }
}
