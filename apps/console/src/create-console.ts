import fastifyCookie from '@fastify/cookie';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { processEnvironment, refuseDevelopment, type SettingsSource } from '#libs/config';
import { PermanentError } from '#libs/domain';
import { type Clock, type Logger, systemClock } from '#libs/platform';
import {
  createHttpApp,
  createMetrics,
  HttpProblem,
  ManagementModule,
  measureRequests,
  StrictPipe,
} from '#libs/service';
import { SignInLimits } from '#libs/sign-in';
import { Connections, ConnectionsModule } from './connections.module.js';
import { type ConsoleSettings, testWallet } from './console.env.js';
import { ConsoleModule, SettingsModule } from './console.module.js';
import { ConsoleWire, MAX_BODY_BYTES } from './http/console-wire.js';
import { BUILT_PAGES, servePages } from './pages/serve-pages.js';

export interface ConsoleOptions {
  readonly settings: ConsoleSettings;
  readonly logger: Logger;
  /** Where the settings were read from, for the doctor. Default: the environment. */
  readonly source?: SettingsSource;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Folder of the built web app. Default: beside this program. */
  readonly pages?: string;
}

/**
 * Creates the server of the web pages, ready to listen; `close()` stops the server and closes all connections. A
 * database that does not answer does not prevent the start.
 * @throws PermanentError where a setting is wrong or refused in production, a database is not usable, or the pages are
 * not built
 */
export async function createConsole({
  settings,
  logger,
  source = processEnvironment(),
  clock = systemClock,
  pages = BUILT_PAGES,
}: ConsoleOptions): Promise<NestFastifyApplication> {
  refuseHalfSettings(settings);
  refuseDevelopment(settings.nodeEnv, [testWallet(settings.consoleTestWalletRpcUrl)]);
  const registry = createMetrics('console');
  const connections = await Connections.open(settings, { clock, logger, registry });
  try {
    const { managementPort: port, listenHost: host } = settings;
    const address = port === undefined ? undefined : { port, host };
    const app = await createHttpApp(
      ConsoleModule.register(
        SettingsModule.register({ settings, source, logger, clock }),
        ConnectionsModule.register(connections),
        ManagementModule.register({ app: 'console', registry, address }),
      ),
      {
        logger,
        wire: (created) => new ConsoleWire(settings, created.get(SignInLimits, { strict: false })),
        server: { trustProxy: settings.trustedProxies ?? false, bodyLimit: MAX_BODY_BYTES },
      },
    );
    await app.register(fastifyCookie);
    app.useGlobalPipes(new StrictPipe((field, message) => HttpProblem.badRequest(field, message)));
    const fastify = app.getHttpAdapter().getInstance();
    measureRequests(fastify, registry, 'lowmark_console_request_seconds');
    await servePages(app, pages);
    return app;
  } catch (error) {
    for (const one of connections.opened) await one.close();
    throw error;
  }
}

/** @throws PermanentError OIDC_INCOMPLETE where the settings of OpenID Connect are only partly set */
function refuseHalfSettings(settings: ConsoleSettings): void {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcRoles } = settings;
  const parts = [oidcIssuer, oidcClientId];
  const isNone = [...parts, oidcClientSecret, oidcRoles].every((part) => part === undefined);
  if (isNone || parts.every((part) => part !== undefined)) return;
  throw new PermanentError(
    'OIDC_INCOMPLETE',
    'Sign-in by OpenID Connect needs OIDC_ISSUER and OIDC_CLIENT_ID: set both, or no setting that begins with OIDC_. See docs/operating/console.md.',
  );
}
