import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { developmentChain, refuseDevelopment } from '#libs/config';
import { createDatabase, Database, LeaderLock, requireOwnRights } from '#libs/db';
import { CLOCK, type Clock, type Logger, systemClock } from '#libs/platform';
import {
  HealthModule,
  MetricsModule,
  measureConnections,
  observeRpc,
  Registry,
} from '#libs/service';
import { looseLimits } from '#libs/price';
import { AuditModule } from './audit/audit.module.js';
import { CHAIN, INDEXER, SETTINGS } from './indexer.tokens.js';
import { type ChainParts, connectChain } from './chain.factory.js';
import { createIndexer, type Indexer } from './create-indexer.js';
import { type IndexerSettings } from './indexer.env.js';
import { IndexerService } from './indexer.service.js';
import { PriceModule } from './price/price.module.js';

const APPLICATION = 'lowmark-indexer';
const STALL_AFTER_MS = 180_000;
const STANDBY_INTERVAL_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
const HALTED_RETRY_MS = 10 * 60_000;

/** The indexer as a service: one loop, its health page and its metrics. */
@Module({})
export class IndexerModule implements OnApplicationShutdown {
  constructor(@Inject(Database) private readonly database: Database) {}

  static register(settings: IndexerSettings, logger: Logger): DynamicModule {
    return {
      module: IndexerModule,
      global: true,
      imports: [
        HealthModule,
        MetricsModule.register('indexer'),
        PriceModule.register(settings, { clock: systemClock, logger }),
        AuditModule.register(settings, { clock: systemClock, logger }),
      ],
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: CLOCK, useValue: systemClock },
        {
          provide: Database,
          inject: [Registry],
          useFactory: (registry: Registry) => openDatabase(settings, logger, registry),
        },
        {
          provide: CHAIN,
          inject: [Registry],
          useFactory: (registry: Registry) =>
            connectChain(settings, {
              clock: systemClock,
              logger,
              observer: observeRpc(registry, logger),
            }),
        },
        {
          provide: INDEXER,
          inject: [Database, CHAIN, Registry, CLOCK],
          useFactory: assemble(settings, logger),
        },
        IndexerService,
      ],
      exports: [SETTINGS, CLOCK, Database, CHAIN, INDEXER],
    };
  }

  /** After the services have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}

async function openDatabase(
  settings: IndexerSettings,
  logger: Logger,
  registry: Registry,
): Promise<Database> {
  refuseDevelopment(settings.nodeEnv, [
    developmentChain(settings.chainId),
    ...looseLimits(settings),
  ]);
  const database = await createDatabase({
    url: settings.databaseUrl,
    applicationName: APPLICATION,
    schema: 'current',
    onError: (error) => {
      logger.warn({ err: error }, 'An idle database connection failed');
    },
  });
  try {
    await requireOwnRights(database, 'indexer', {
      isProduction: settings.nodeEnv === 'production',
      onExcess: (message) => {
        logger.warn({ code: 'DATABASE_RIGHTS_EXCESSIVE' }, message);
      },
    });
  } catch (error) {
    await database.close();
    throw error;
  }
  measureConnections(registry, database);
  return database;
}

function assemble(settings: IndexerSettings, logger: Logger) {
  return (database: Database, chain: ChainParts, registry: Registry, clock: Clock): Indexer =>
    createIndexer(
      {
        database,
        lock: new LeaderLock({ url: settings.databaseUrl, applicationName: APPLICATION }),
        reader: chain.reader,
        source: chain.source,
        concurrency: chain.concurrency,
        onWaiting: chain.onWaiting,
        stopAsking: chain.stopAsking,
        registry,
        clock,
        logger,
      },
      {
        chainId: settings.chainId,
        stakeContracts: settings.stakeContract,
        tokenContract: settings.tokenContract,
        tokenSymbol: settings.tokenSymbol,
        tokenDecimals: settings.tokenDecimals,
        firstBlock: settings.stakeStartBlock > 0n ? settings.stakeStartBlock : 1n,
        events: chain.events,
        stakeEvents: settings.stakeEvents,
        verification: settings.stakeVerification,
        maxRangeBlocks: settings.maxRangeBlocks,
        pollIntervalMs: settings.pollIntervalMs,
        stallAfterMs: STALL_AFTER_MS,
        standbyIntervalMs: STANDBY_INTERVAL_MS,
        maxBackoffMs: MAX_BACKOFF_MS,
        haltedRetryMs: HALTED_RETRY_MS,
      },
    );
}
