import fastifyCookie from '@fastify/cookie';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { refuseDevelopment } from '#libs/config';
import { type Clock, type Logger, systemClock } from '#libs/platform';
import {
  createHttpApp,
  createMetrics,
  HttpProblem,
  measureRequests,
  StrictPipe,
} from '#libs/service';
import { type ConsoleSettings, testWallet } from './console.env.js';
import { ConsoleModule } from './console.module.js';
import { ConsoleWire, MAX_BODY_BYTES } from './http/console-wire.js';
import { BUILT_PAGES, servePages } from './pages/serve-pages.js';

export interface ConsoleOptions {
  readonly settings: ConsoleSettings;
  readonly logger: Logger;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Where the web app was built into. Default: beside this program. */
  readonly pages?: string;
}

/**
 * The server of the web pages, ready to listen; `close()` stops it and everything it opened.
 * @throws PermanentError where a setting is wrong or is refused in production, or the pages are not built
 */
export async function createConsole({
  settings,
  logger,
  clock = systemClock,
  pages = BUILT_PAGES,
}: ConsoleOptions): Promise<NestFastifyApplication> {
  refuseDevelopment(settings.nodeEnv, [testWallet(settings.consoleTestWalletRpcUrl)]);
  const registry = createMetrics('console');
  const app = await createHttpApp(ConsoleModule.register({ settings, logger, clock, registry }), {
    logger,
    wire: () => new ConsoleWire(settings),
    server: { trustProxy: settings.trustedProxies ?? false, bodyLimit: MAX_BODY_BYTES },
  });
  await app.register(fastifyCookie);
  app.useGlobalPipes(new StrictPipe((field, message) => HttpProblem.badRequest(field, message)));
  measureRequests(app.getHttpAdapter().getInstance(), registry, 'lowmark_console_request_seconds');
  await servePages(app, settings, pages);
  return app;
}
