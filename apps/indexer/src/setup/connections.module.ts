import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import {
  ChainReader,
  type ChainReaderOptions,
  loadStakeDescription,
  LogSource,
  multicallOf,
  resolveStakeViews,
  type RpcObserver,
  RpcPool,
  type StakeDescription,
} from '#libs/chain';
import { developmentChain, refuseDevelopment, sessionUrl } from '#libs/config';
import { Database, LeaderLock, leaderLockOf, openOwnDatabase, StakeSetStore } from '#libs/db';
import { CLOCK, type Clock, type Logger, systemClock } from '#libs/platform';
import { fixedPrice } from '#libs/price';
import { LOGGER, measureConnections, observeRpc, provide, Registry } from '#libs/service';
import { IndexStatus } from '../health/index-status.js';
import {
  BACKGROUND_POOL,
  BACKGROUND_READER,
  INDEX_OPTIONS,
  indexOptionsOf,
  RPC_OBSERVER,
  STAKES,
} from '../settings/index-options.js';
import { IndexerSettings } from '../settings/indexer.env.js';

const APPLICATION = 'lowmark-indexer';

@Module({})
export class ConnectionsModule implements OnApplicationShutdown {
  constructor(@Inject(Database) private readonly database: Database) {}

  static register(settings: IndexerSettings, logger: Logger): DynamicModule {
    const { rpcUrls: urls, stakeSet, indexPart } = settings;
    const url = sessionUrl(settings);
    const providers = [
      { provide: IndexerSettings, useValue: settings },
      { provide: LOGGER, useValue: logger },
      { provide: CLOCK, useValue: systemClock },
      provide(IndexStatus),
      {
        provide: Database,
        inject: [Registry],
        useFactory: (registry: Registry) => openDatabase(settings, logger, registry),
      },
      {
        provide: LeaderLock,
        useFactory: () =>
          new LeaderLock({ url, applicationName: APPLICATION }, leaderLockOf(stakeSet, indexPart)),
      },
      { provide: STAKES, useFactory: () => loadStakeDescription(settings.stakeEvents) },
      {
        provide: INDEX_OPTIONS,
        inject: [STAKES],
        useFactory: ({ events }: StakeDescription) => indexOptionsOf(settings, events),
      },
      {
        provide: RPC_OBSERVER,
        inject: [Registry],
        useFactory: (registry: Registry): RpcObserver => observeRpc(registry, logger),
      },
      {
        provide: RpcPool,
        inject: [CLOCK, RPC_OBSERVER, IndexStatus],
        useFactory: (clock: Clock, observer: RpcObserver, status: IndexStatus) =>
          new RpcPool({ urls, clock, observer: status.observedBy(observer, clock) }),
      },
      {
        provide: BACKGROUND_POOL,
        inject: [CLOCK, RPC_OBSERVER],
        useFactory: (clock: Clock, observer: RpcObserver) => new RpcPool({ urls, clock, observer }),
      },
      { provide: READER_OPTIONS, inject: [STAKES], useFactory: readerOptions(settings, logger) },
      provide(ChainReader, RpcPool, READER_OPTIONS),
      { ...provide(ChainReader, BACKGROUND_POOL, READER_OPTIONS), provide: BACKGROUND_READER },
      provide(LogSource, RpcPool, INDEX_OPTIONS),
    ];
    return { module: ConnectionsModule, global: true, providers, exports: providers };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}

const READER_OPTIONS = Symbol('ChainReaderOptions');

/**
 * Resolves the contract's views. Warns where neither view is available, as nothing is left to compare the index with.
 */
function readerOptions(settings: IndexerSettings, logger: Logger) {
  return (description: StakeDescription): ChainReaderOptions => {
    const views = resolveStakeViews(description);
    const { isPartial, totalView, balanceView } = description;
    if (isPartial && totalView === undefined && balanceView === undefined) {
      logger.warn(
        'STAKE_EVENTS counts a part of the events: give it totalView or balanceView for checks against the contract (docs/operating/contracts.md)',
      );
    }
    return {
      finality: settings.finality,
      contracts: settings.stakeContract,
      multicall: multicallOf(settings.chainId),
      ...views,
    };
  };
}

async function openDatabase(
  settings: IndexerSettings,
  logger: Logger,
  registry: Registry,
): Promise<Database> {
  refuseDevelopment(settings.nodeEnv, [
    developmentChain(settings.chainId),
    fixedPrice(settings.priceSource),
  ]);
  const database = await openOwnDatabase(
    { program: 'indexer', nodeEnv: settings.nodeEnv, logger },
    {
      url: sessionUrl(settings),
      applicationName: APPLICATION,
      // Commits need no confirmation by a replica: what a failover loses is read from the chain again.
      synchronousCommit: 'local',
    },
  );
  try {
    measureConnections(registry, database);
    return await new StakeSetStore(database).open(settings.stakeSet, settings.indexPart);
  } catch (error) {
    await database.close();
    throw error;
  }
}
