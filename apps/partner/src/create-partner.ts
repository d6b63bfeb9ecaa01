import { sessionUrl } from '#libs/config';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { createDatabase, logLostConnections } from '#libs/db';
import { type Clock, type Logger, systemClock } from '#libs/platform';
import { createHttpApp } from '#libs/service';
import { PartnerWire } from './http/partner-wire.js';
import { type PartnerSettings } from './partner.env.js';
import { PartnerModule } from './partner.module.js';
import { migrateGame } from './store/migrations.js';
import { seedPlayers } from './store/players.js';

interface PartnerOptions {
  readonly settings: PartnerSettings;
  readonly logger: Logger;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

const KEEP_ALIVE_MS = 72_000;
const POOL_SIZE = 8;
/** In milliseconds; below the 15 s that the service waits: an answer with ERR-INTERNAL is better than none. */
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * Creates the whole game server with an up-to-date schema, ready to listen; `close()` stops it and all that it opened.
 * @throws DatabaseUnavailableError, DatabaseRefusedError where there is no database to start with
 */
export async function createPartner({
  settings,
  logger,
  clock = systemClock,
}: PartnerOptions): Promise<NestFastifyApplication> {
  const database = await createDatabase({
    url: sessionUrl(settings),
    applicationName: 'lowmark partner',
    poolSize: POOL_SIZE,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError: logLostConnections(logger),
  });
  try {
    await migrateGame(database);
    await seedPlayers(database, settings.partnerPlayers ?? []);
    const app = await createHttpApp(PartnerModule.register({ settings, database, clock, logger }), {
      logger,
      wire: () => new PartnerWire(settings.partnerSharedSecret, logger),
      // The SDK's module may add middleware.
      server: { keepAliveTimeout: KEEP_ALIVE_MS, skipMiddie: false },
    });
    if (settings.partnerBasePath !== undefined) {
      app.setGlobalPrefix(settings.partnerBasePath, {
        exclude: ['health/live', 'health/ready', 'health/accepting'],
      });
    }
    return app;
  } catch (error) {
    await database.close();
    throw error;
  }
}
