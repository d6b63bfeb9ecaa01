import { type DynamicModule, Module } from '@nestjs/common';
import { MemoryRateLimiter, type RateLimiter } from '#libs/cache';
import {
  Database,
  LateDatabase,
  logLostConnections,
  openOwnDatabase,
  openPortal,
  PortalDatabase,
} from '#libs/db';
import { RetryableError } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { HttpProblem, measureConnections, type Registry } from '#libs/service';
import { type ConsoleSettings } from './console.env.js';

export const RATE_LIMITER = Symbol('RateLimiter');

const POOL_SIZE = 8;
const PORTAL_POOL_SIZE = 4;

interface ConnectionTools {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/**
 * The console's database connections: one as its own database user, and one as the portal user, who sees the rows of
 * one partner at a time. The console starts without the databases, and opens each when it answers.
 */
export class Connections {
  private constructor(
    readonly database: LateDatabase,
    readonly portal: PortalDatabase,
    readonly limiter: RateLimiter,
  ) {}

  /** @throws PermanentError where a database answers but is not usable; the message says what to mend */
  static async open(
    settings: ConsoleSettings,
    { clock, logger, registry }: ConnectionTools,
  ): Promise<Connections> {
    const database = new LateDatabase(() => openOwn(settings, logger));
    const portal = portalOf(settings, logger);
    measureConnections(registry, database);
    const late = settings.portalDatabaseUrl === undefined ? [database] : [database, portal];
    try {
      await Promise.all(late.map((one) => tryToOpen(one, logger)));
    } catch (error) {
      await Promise.all([database.close(), portal.close()]);
      throw error;
    }
    return new Connections(database, new PortalDatabase(portal), new MemoryRateLimiter(clock));
  }

  /** In the order of closing. */
  get opened(): readonly { close(): Promise<void> }[] {
    return [this.portal, this.database];
  }
}

@Module({})
export class ConnectionsModule {
  static register(connections: Connections): DynamicModule {
    const providers = [
      { provide: Connections, useValue: connections },
      { provide: Database, useValue: connections.database },
      { provide: PortalDatabase, useValue: connections.portal },
      { provide: RATE_LIMITER, useValue: connections.limiter },
    ];
    return { module: ConnectionsModule, global: true, providers, exports: providers };
  }
}

/** Opens a database now where it answers, else at the first request that needs it. */
async function tryToOpen(database: LateDatabase, logger: Logger): Promise<void> {
  try {
    await database.open();
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    logger.warn({ reason: error.message }, 'Starting without the database: it does not answer');
  }
}

function openOwn(settings: ConsoleSettings, logger: Logger): Promise<Database> {
  const { databaseUrl: url, databaseDirectUrl, nodeEnv } = settings;
  const isPooled = databaseDirectUrl !== undefined;
  return openOwnDatabase(
    { program: 'console', nodeEnv, logger },
    { url, isPooled, applicationName: 'lowmark console', poolSize: POOL_SIZE },
  );
}

function portalOf(settings: ConsoleSettings, logger: Logger): LateDatabase {
  const { portalDatabaseUrl: url, databaseDirectUrl } = settings;
  const isPooled = databaseDirectUrl !== undefined;
  return new LateDatabase(async () => {
    if (url === undefined) {
      throw new HttpProblem(503, 'The partners’ pages are off: PORTAL_DATABASE_URL is not set.', {
        code: 'PARTNER_PAGES_OFF',
      });
    }
    const { database } = await openPortal({
      ...{ url, isPooled, applicationName: 'lowmark portal', poolSize: PORTAL_POOL_SIZE },
      onError: logLostConnections(logger),
    });
    return database;
  });
}
