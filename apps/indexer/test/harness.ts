/** A real indexer in the test's process: real sockets to a node, a real database. */
import 'reflect-metadata';
import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ChainReader,
  loadStakeEvents,
  LogSource,
  RpcPool,
  type StakeView,
  type VerificationSetting,
} from '#libs/chain';
import { createDatabase, Database, LeaderLock } from '#libs/db';
import { type Address } from '#libs/domain';
import { CLOCK, type Clock, type Logger, systemClock } from '#libs/platform';
import { createLogger, createMetrics, HealthModule, LOGGER, Registry } from '#libs/service';
import { type TestChain } from '#libs/testing/chain';
import { type TestDatabase } from '#libs/testing/database';
import { FollowModule } from '../src/follow.module.js';
import { IndexerService } from '../src/follow/indexer.service.js';
import { IndexStatus } from '../src/health/index-status.js';
import {
  BACKGROUND_POOL,
  INDEX_OPTIONS,
  type IndexOptions,
} from '../src/settings/index-options.js';
import { IndexerSettings } from '../src/settings/indexer.env.js';

/** The chain that is indexed: a local one, or one in the test's memory. */
export interface IndexedChain extends Pick<TestChain, 'chainId'> {
  readonly contracts: Pick<TestChain['contracts'], 'staking' | 'token' | 'startBlock'>;
  readonly rpc: Pick<TestChain['rpc'], 'url' | 'call'>;
}

export interface IndexerUnderTestOptions {
  readonly chain: IndexedChain;
  readonly database: TestDatabase;
  /** Default: the URL of the chain. */
  readonly urls?: readonly string[];
  readonly finality?: string;
  readonly totalView?: readonly StakeView[];
  readonly balanceView?: readonly StakeView[];
  readonly verification?: VerificationSetting;
  readonly events?: string;
  readonly contracts?: readonly [Address, ...Address[]];
  readonly overrides?: Partial<IndexOptions>;
  readonly timeoutMs?: number;
  /** How long a question to the endpoints goes on after its first failure. */
  readonly patienceMs?: number;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

export interface IndexerUnderTest {
  readonly status: IndexStatus;
  readonly log: { level: string; msg: string; [field: string]: unknown }[];
  readonly running: Promise<void>;
  /**
   * Waits until the indexer reaches a state.
   * @throws Error with the last log lines where the state is not reached in time
   */
  until(what: string, reached: (status: IndexStatus) => boolean, ms?: number): Promise<void>;
  /** Waits until the index is level with the chain's newest block, and ready. */
  level(): Promise<void>;
  stop(): Promise<void>;
}

export async function startIndexer(options: IndexerUnderTestOptions): Promise<IndexerUnderTest> {
  const { chain, database } = options;
  const clock = options.clock ?? systemClock;
  const log: IndexerUnderTest['log'] = [];
  const logger: Logger = createLogger({
    app: 'indexer',
    level: 'debug',
    destination: {
      write: (line) => void log.push(JSON.parse(line) as IndexerUnderTest['log'][number]),
    },
  });
  const contracts = options.contracts ?? ([chain.contracts.staking] as const);
  const status = new IndexStatus();
  const pool = new RpcPool({
    urls: options.urls ?? [chain.rpc.url],
    clock,
    timeoutMs: options.timeoutMs ?? 5_000,
    patienceMs: options.patienceMs ?? 1_000,
    backoff: { firstMs: 10, longestMs: 50 },
    observer: status.observedBy(
      {
        request: () => undefined,
        warning: ({ endpoint, code, message }) => {
          logger.warn({ endpoint, code }, message);
        },
      },
      clock,
    ),
  });
  const { events: stakeEvents = 'staked-withdrawn' } = options;
  const events = await loadStakeEvents(stakeEvents);
  const open = await createDatabase({
    url: database.urlAs('indexer'),
    applicationName: 'indexer',
    poolSize: 2,
  });
  const indexOptions: IndexOptions = {
    chainId: chain.chainId,
    contracts,
    tokenContract: chain.contracts.token,
    firstBlock: chain.contracts.startBlock,
    events,
    stakeEvents,
    verification: options.verification ?? 'auto',
    maxRangeBlocks: 500,
    cachedWallets: 1_000,
    pollIntervalMs: 20,
    stallAfterMs: 20_000,
    standbyIntervalMs: 50,
    maxBackoffMs: 100,
    haltedRetryMs: 500,
    ...options.overrides,
  };
  const lock = new LeaderLock({ url: database.urlAs('indexer'), applicationName: 'indexer' });
  const reader = new ChainReader(pool, {
    finality: options.finality ?? 'depth:100',
    contracts,
    hasTransfers: events.some(({ receiver }) => receiver !== undefined),
    ...(options.totalView !== undefined && { totalView: options.totalView }),
    ...(options.balanceView !== undefined && { balanceView: options.balanceView }),
  });
  const providers = [
    { provide: IndexerSettings, useValue: { indexMaxLagSeconds: 120 } },
    { provide: CLOCK, useValue: clock },
    { provide: LOGGER, useValue: logger },
    { provide: IndexStatus, useValue: status },
    { provide: Database, useValue: open },
    { provide: LeaderLock, useValue: lock },
    { provide: RpcPool, useValue: pool },
    { provide: BACKGROUND_POOL, useValue: pool },
    { provide: ChainReader, useValue: reader },
    { provide: LogSource, useValue: new LogSource(pool, { contracts, events }) },
    { provide: Registry, useValue: createMetrics('indexer') },
    { provide: INDEX_OPTIONS, useValue: indexOptions },
  ];
  @Global()
  @Module({ providers, exports: providers })
  class Surroundings {}
  @Module({ imports: [Surroundings, HealthModule.register(), FollowModule] })
  class Root {}
  const app = await NestFactory.createApplicationContext(Root, {
    logger: false,
    abortOnError: false,
  });
  const running = app.get(IndexerService).ended;
  let failure: unknown;
  running.catch((error: unknown) => {
    failure = error;
  });
  const until: IndexerUnderTest['until'] = async (what, reached, ms = 60_000) => {
    const deadline = Date.now() + ms;
    while (!reached(status)) {
      if (failure) throw failure as Error;
      if (Date.now() > deadline) {
        const { phase, head, trouble } = status;
        throw new Error(
          `not ${what} after ${ms} ms: ${phase}, block ${head?.number}, ${trouble ?? 'no trouble'}\n` +
            log
              .slice(-5)
              .map((line) => JSON.stringify({ ...line, err: undefined }))
              .join('\n'),
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return {
    status,
    log,
    running,
    until,
    async level() {
      const newest = await chain.rpc.call<{ hash: string; number: string }>(
        'eth_getBlockByNumber',
        'latest',
        false,
      );
      await until(
        `level with block ${Number(newest.number)}`,
        ({ head, phase, trouble }) =>
          phase === 'following' && head?.hash === newest.hash && trouble === undefined,
      );
    },
    async stop() {
      await app.close();
      // Not only with the test database: the connections of all worlds of a file would be more than the server has.
      await open.close();
    },
  };
}
