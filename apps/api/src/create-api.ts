import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { openRedis, refuseDevelopment } from '#libs/config';
import { Database } from '#libs/db';
import { serveDocs } from '#libs/openapi';
import { systemClock } from '#libs/platform';
import { createHttpApp, measureConnections, measureRequests, Registry } from '#libs/service';
import { ApiModule } from './api.module.js';
import { contractOfApi } from './docs/contract.js';
import { MAX_BODY_BYTES, MAX_PARSED_HEAD_BYTES, SignedWire } from './http/signed-wire.js';
import { RequestLog } from './requests/request-log.js';
import { type ApiOptions } from './settings.module.js';
import { BatchRoute } from './snapshots/batch.route.js';
import { SnapshotsRoute } from './snapshots/snapshots.route.js';

/**
 * Builds the whole API, ready to listen. `close()` stops the API and everything it opened.
 * @throws DatabaseUnavailableError, DatabaseRefusedError where there is no database to start with; PermanentError
 * DEVELOPMENT_SETTINGS, DATABASE_RIGHTS_EXCESSIVE in production
 */
export async function createApi(
  options: Omit<ApiOptions, 'clock'> & Partial<ApiOptions>,
): Promise<NestFastifyApplication> {
  const { settings, logger, clock = systemClock } = options;
  refuseDevelopment(settings.nodeEnv, [openRedis(settings.redisUrl)]);
  const app = await createHttpApp(ApiModule.register({ ...options, clock }), {
    logger,
    wire: (created) => created.get(SignedWire),
    // Only failed requests are logged.
    followsRequests: false,
    server: {
      trustProxy: settings.trustedProxies ?? false,
      bodyLimit: MAX_BODY_BYTES,
      http: { maxHeaderSize: MAX_PARSED_HEAD_BYTES },
    },
  });
  const fastify = app.getHttpAdapter().getInstance();
  app.get(SnapshotsRoute).register(fastify);
  app.get(BatchRoute).register(fastify);
  if (settings.requestLog > 0) app.get(RequestLog).follow(fastify);
  const registry = app.get<Registry>(Registry);
  measureRequests(fastify, registry, 'lowmark_api_request_seconds');
  measureConnections(registry, app.get(Database));
  serveDocs(app, await contractOfApi(), 'Send the API key in X-API-KEY.');
  return app;
}
