import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type INestApplication } from '@nestjs/common';
import { describeApi, type OpenApi, serveDocs } from '#libs/openapi';
import { type Clock, type Logger, systemClock } from '#libs/platform';
import {
  createHttpApp,
  createMetrics,
  ManagementModule,
  measureRequests,
  StrictPipe,
} from '#libs/service';
import { RequestLimits } from './auth/admission.js';
import { AuthModule } from './auth/auth.module.js';
import { ChainModule } from './chain/chain.module.js';
import { Connections, ConnectionsModule } from './connections.module.js';
import { MAX_BODY_BYTES, UserWire } from './http/user-wire.js';
import { UserError } from './http/user.error.js';
import { Alerts } from './observe/alerts.js';
import { PartnersModule } from './partner/partners.module.js';
import { type RedemptionSettings } from './redemption.env.js';
import { RedemptionModule } from './redemption.module.js';
import { RedemptionsModule } from './redemptions/redemptions.module.js';
import { RegistryPublishingModule } from './registry-publishing/registry-publishing.module.js';
import { SettingsModule } from './settings.module.js';
import { checkKeys, refuseUnsafeSettings } from './start-checks.js';

export interface RedemptionAppOptions {
  readonly settings: RedemptionSettings;
  readonly logger: Logger;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

const NOTE =
  'All but the signing in and the chain is for who is signed in: Authorization: Bearer and the token.';

/**
 * Creates the whole redemption service, ready to listen; `close()` stops it and all that it opened. The engine starts
 * with `listen`. Where no endpoint answers, the service starts without the chain.
 * @throws PermanentError where a setting is wrong; DatabaseUnavailableError, DatabaseRefusedError; ChainMismatchError
 */
export async function createRedemption({
  settings,
  logger,
  clock = systemClock,
}: RedemptionAppOptions): Promise<NestFastifyApplication> {
  refuseUnsafeSettings(settings);
  const registry = createMetrics('redemption');
  const alerts = new Alerts(registry, logger);
  const given = SettingsModule.register(settings, { clock, logger, alerts });
  checkKeys(settings, logger);
  const publishing = RegistryPublishingModule.register(settings);
  const connections = await Connections.open(settings, clock, { logger, registry, alerts });
  try {
    const { managementPort: port, listenHost: host } = settings;
    const address = port === undefined ? undefined : { port, host };
    const app = await createHttpApp(
      RedemptionModule.register(
        given,
        ConnectionsModule.register(connections),
        publishing,
        ManagementModule.register({ app: 'redemption', registry, address }),
      ),
      {
        logger,
        wire: (created) => new UserWire(created.get(RequestLimits, { strict: false })),
        server: { trustProxy: settings.trustedProxies ?? false, bodyLimit: MAX_BODY_BYTES },
      },
    );
    app.useGlobalPipes(new StrictPipe((field, message) => UserError.badRequest(field, message)));
    serveDocs(app, openApiOf(app), NOTE);
    const fastify = app.getHttpAdapter().getInstance();
    measureRequests(fastify, registry, 'lowmark_redemption_request_seconds');
    app.enableCors({
      origin: originsOf(settings),
      methods: ['GET', 'POST'],
      allowedHeaders: ['authorization', 'content-type', 'idempotency-key', 'x-request-id'],
      exposedHeaders: ['retry-after', 'x-request-id'],
      maxAge: 600,
    });
    return app;
  } catch (error) {
    for (const one of connections.opened) await one?.close();
    throw error;
  }
}

/** Only the pages that users sign in on may call from a browser. */
function originsOf({ siweDomains, nodeEnv }: RedemptionSettings): string[] {
  const schemes = nodeEnv === 'production' ? ['https'] : ['https', 'http'];
  return siweDomains.flatMap((domain) => schemes.map((scheme) => `${scheme}://${domain}`));
}

/** The OpenAPI contract, made from controllers and DTOs. A test compares the answers of the real service with it. */
export function openApiOf(app: INestApplication): OpenApi {
  return describeApi(app, {
    title: 'Lowmark redemption',
    version: '2026-11-21',
    description:
      'Points become tokens. Changes are additive only; expect new fields and error messages.',
    modules: [ChainModule, AuthModule, PartnersModule, RedemptionsModule],
    security: ['session', { type: 'http', scheme: 'bearer' }],
  });
}
