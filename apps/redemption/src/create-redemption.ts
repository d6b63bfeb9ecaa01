import { randomUUID } from 'node:crypto';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { createSharing } from '#libs/cache';
import { countPrograms, createDatabase, REDEMPTION_PROGRAM, requireOwnRights } from '#libs/db';
import { addressPolicy } from '#libs/partner-client';
import { type Clock, type Logger, systemClock } from '#libs/platform';
import { createHttpApp, createMetrics, measureConnections, measureRequests } from '#libs/service';
import { EvidenceKeys, KeyRing } from '#libs/signing';
import { connectChain } from './chain.factory.js';
import { refuseUnsafeSettings } from './development-settings.js';
import { MAX_BODY_BYTES, UserWire } from './http/user-wire.js';
import { Alerts } from './observe/alerts.js';
import { measureRedis } from './observe/redis-gauge.js';
import { type PayoutPort } from './payout/payout-port.js';
import { checkKeys, checkVoucherTtl } from './payout/start-checks.js';
import { type RedemptionSettings } from './redemption.env.js';
import { RedemptionModule } from './redemption.module.js';

/** Replicas are told apart, and counted, by the name of their connections to the database. */
const REPLICA = `${REDEMPTION_PROGRAM} replica `;

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
 * It starts without the chain where no endpoint answers.
 * @throws PermanentError where a setting is wrong; DatabaseUnavailableError, DatabaseRefusedError; ChainMismatchError
 */
export async function createRedemption({
  settings,
  logger,
  clock = systemClock,
  payouts,
}: RedemptionAppOptions): Promise<NestFastifyApplication> {
  refuseUnsafeSettings(settings);
  const isProduction = settings.nodeEnv === 'production';
  const registry = createMetrics('redemption');
  const alerts = new Alerts(registry, logger);
  const parts = {
    settings,
    logger,
    clock,
    registry,
    alerts,
    keyRing: KeyRing.parse(settings.secretsKey),
    evidence: EvidenceKeys.parse(settings.evidenceKey),
    partnerAddresses: addressPolicy({ allowPrivate: settings.allowPrivatePartners, isProduction }),
  };
  checkKeys(settings, logger);
  const chain = await connectChain(settings, { clock, logger, registry, alerts });
  const opened: { close(): Promise<void> | void }[] = [chain.chain];
  const id = randomUUID().slice(0, 8);
  try {
    if (chain.chain.tokenDecimals !== undefined) await checkVoucherTtl(settings, chain.pool);
    const database = await createDatabase({
      url: settings.databaseUrl,
      applicationName: `${REPLICA}${id}`,
      poolSize: settings.redemptionPoolSize,
      schema: 'current',
      onError: (error) => {
        // The driver's error drags its whole connection along.
        logger.warn({ reason: error.message }, 'A database connection was lost');
      },
    });
    opened.unshift(database);
    await requireOwnRights(database, 'redemption', {
      isProduction,
      onExcess: (message) => {
        logger.warn({ code: 'DATABASE_RIGHTS_EXCESSIVE' }, message);
      },
    });
    const { limiter, redis } = await createSharing(settings.redisUrl, {
      clock,
      logger,
      id,
      family: 'redemption',
      countReplicas: () => countPrograms(database, REPLICA),
    });
    if (redis !== undefined) opened.unshift(redis);
    measureRedis(registry, redis);
    const app = await createHttpApp(
      RedemptionModule.register({
        ...{ ...parts, ...chain, database, limiter },
        ...(payouts && { payouts }),
      }),
      {
        logger,
        wire: () => new UserWire(),
        server: { trustProxy: settings.trustedProxies ?? false, bodyLimit: MAX_BODY_BYTES },
      },
    );
    const fastify = app.getHttpAdapter().getInstance();
    fastify.addHook('onClose', () => Promise.resolve(redis?.close()));
    measureRequests(fastify, registry, 'lowmark_redemption_request_seconds');
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
    for (const one of opened) await one.close();
    throw error;
  }
}

/** The pages that users sign in on are those that may call from a browser. */
function originsOf(domains: readonly string[], isProduction: boolean): string[] {
  const schemes = isProduction ? ['https'] : ['https', 'http'];
  return domains.flatMap((domain) => schemes.map((scheme) => `${scheme}://${domain}`));
}
