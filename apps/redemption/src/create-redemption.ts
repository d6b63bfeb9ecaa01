import { NestFactory } from '@nestjs/core';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { createDatabase } from '#libs/db';
import { addressPolicy } from '#libs/partner-client';
import {
  type Clock,
  type Logger,
  measureConnections,
  measureRequests,
  NestLogger,
  Registry,
  systemClock,
} from '#libs/platform';
import { KeyRing } from '#libs/signing';
import { connectChain } from './chain.factory.js';
import { ErrorFilter } from './http/error.filter.js';
import { createAdapter } from './http/http-server.js';
import { type PayoutPort } from './payout/payout-port.js';
import { type RedemptionSettings } from './redemption.env.js';
import { RedemptionModule } from './redemption.module.js';

export interface RedemptionAppOptions {
  readonly settings: RedemptionSettings;
  readonly logger: Logger;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default: vouchers on VAULT_CONTRACT. */
  readonly payouts?: PayoutPort;
}

/**
 * The whole redemption service, ready to listen; `close()` stops it and everything it opened. The engine begins with `listen`.
 * @throws PermanentError where a setting is wrong; DatabaseUnavailableError, DatabaseRefusedError; ChainMismatchError,
 * AllEndpointsFailedError where no endpoint tells its chain
 */
export async function createRedemption({
  settings,
  logger,
  clock = systemClock,
  payouts,
}: RedemptionAppOptions): Promise<NestFastifyApplication> {
  const isProduction = settings.nodeEnv === 'production';
  const parts = {
    settings,
    logger,
    clock,
    keyRing: KeyRing.parse(settings.secretsKey),
    partnerAddresses: addressPolicy({ allowPrivate: settings.allowPrivatePartners, isProduction }),
  };
  const chain = await connectChain(settings, { clock, logger });
  const database = await createDatabase({
    url: settings.databaseUrl,
    applicationName: 'lowmark redemption',
    poolSize: settings.redemptionPoolSize,
    onError: (error) => {
      // The driver's error drags its whole connection along.
      logger.warn({ reason: error.message }, 'A database connection was lost');
    },
  });
  try {
    const adapter = createAdapter(settings.trustedProxies ?? false);
    const app = await NestFactory.create<NestFastifyApplication>(
      RedemptionModule.register({ ...parts, ...chain, database, ...(payouts && { payouts }) }),
      adapter,
      { logger: new NestLogger(logger), abortOnError: false, bodyParser: false },
    );
    app.useGlobalFilters(new ErrorFilter(logger));
    const registry = app.get<Registry>(Registry);
    measureRequests(adapter.getInstance(), registry, 'lowmark_redemption_request_seconds');
    measureConnections(registry, database);
    app.enableCors({
      origin: originsOf(settings.siweDomains, isProduction),
      methods: ['GET', 'POST'],
      allowedHeaders: ['authorization', 'content-type', 'idempotency-key', 'x-request-id'],
      exposedHeaders: ['retry-after', 'x-request-id'],
      maxAge: 600,
    });
    return app;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The pages that users sign in on are those that may call from a browser. */
function originsOf(domains: readonly string[], isProduction: boolean): string[] {
  const schemes = isProduction ? ['https'] : ['https', 'http'];
  return domains.flatMap((domain) => schemes.map((scheme) => `${scheme}://${domain}`));
}
