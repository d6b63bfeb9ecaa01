import { type DynamicModule, Module } from '@nestjs/common';
import { RpcPool, WalletSignatures } from '#libs/chain';
import { createSharing, type RateLimiter, type RedisLink } from '#libs/cache';
import { Database, openOwnDatabase, PriceStore, REDEMPTION_PROGRAM, StakeSetStore } from '#libs/db';
import { type Clock, type Logger } from '#libs/platform';
import { measureConnections, measureRedis } from '#libs/service';
import { ChainLink, type ChainTools } from './chain/chain-link.js';
import { type RedemptionSettings } from './redemption.env.js';
import { checkVoucherTtl } from './start-checks.js';

export const RATE_LIMITER = Symbol('RateLimiter');

/** Connections of a process, of the 100 that PostgreSQL has by default for all programs. */
const POOL_SIZE = 8;

/** The connections that the service holds open while it runs: the chain, the database, and Redis where configured. */
export class Connections {
  private constructor(
    readonly chain: ChainLink,
    readonly database: Database,
    /** Prices of the token, from the stake set whose token the vault pays. */
    readonly prices: PriceStore,
    readonly limiter: RateLimiter,
    private readonly redis: RedisLink | undefined,
  ) {}

  /**
   * Opens all connections. Where no endpoint answers, the service starts without the chain.
   * @throws ChainMismatchError; PermanentError where vouchers would live too long, or the token does not tell its
   *   decimals; DatabaseUnavailableError, DatabaseRefusedError
   */
  static async open(
    settings: RedemptionSettings,
    clock: Clock,
    tools: ChainTools,
  ): Promise<Connections> {
    const { logger, registry } = tools;
    const chain = new ChainLink(settings, clock, tools);
    const opened: { close(): Promise<void> }[] = [chain];
    try {
      await chain.open();
      if (chain.tokenDecimals !== undefined) await checkVoucherTtl(settings, chain.pool);
      const database = await openDatabase(settings, logger);
      opened.push(database);
      const prices = new PriceStore(await new StakeSetStore(database).open(settings.stakeSet));
      measureConnections(registry, database);
      const { limiter, redis } = await createSharing(settings.redisUrl, {
        clock,
        logger,
        family: 'redemption',
        replicas: settings.replicas,
      });
      if (redis !== undefined) measureRedis(registry, redis, 'limits');
      return new Connections(chain, database, prices, limiter, redis);
    } catch (error) {
      for (const one of opened.reverse()) await one.close();
      throw error;
    }
  }

  /** The open connections, in the order in which they are closed. */
  get opened(): readonly ({ close(): Promise<void> | void } | undefined)[] {
    return [this.redis, this.database, this.chain];
  }
}

@Module({})
export class ConnectionsModule {
  static register(connections: Connections): DynamicModule {
    const { chain, database, prices, limiter } = connections;
    const providers = [
      { provide: Connections, useValue: connections },
      { provide: ChainLink, useValue: chain },
      { provide: RpcPool, useValue: chain.pool },
      { provide: WalletSignatures, useValue: chain.signatures },
      { provide: Database, useValue: database },
      { provide: PriceStore, useValue: prices },
      { provide: RATE_LIMITER, useValue: limiter },
    ];
    return { module: ConnectionsModule, global: true, providers, exports: providers };
  }
}

function openDatabase(settings: RedemptionSettings, logger: Logger): Promise<Database> {
  const { databaseUrl: url, databaseDirectUrl, nodeEnv } = settings;
  const isPooled = databaseDirectUrl !== undefined;
  return openOwnDatabase(
    { program: 'redemption', nodeEnv, logger },
    { url, isPooled, applicationName: REDEMPTION_PROGRAM, poolSize: POOL_SIZE },
  );
}
