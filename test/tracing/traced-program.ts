import { freePort } from '#libs/devprocess';
import { ServiceProgram } from '../restarts/service-program.js';

/** Reports on standard error when the OpenTelemetry SDK is loaded. */
const WATCH = `
import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';
registerHooks({ load(url, context, next) {
  if (url.endsWith('/@opentelemetry/sdk-node/dist/index.mjs')) writeSync(2, 'LOADED ' + url + '\\n');
  return next(url, context);
} });`;

/** A service with the environment variables of OpenTelemetry. */
export class TracedProgram extends ServiceProgram {
  /** Resolves when the service is ready to serve. */
  static async start(
    app: 'api' | 'indexer' | 'redemption',
    settings: Readonly<Record<string, string>>,
  ): Promise<TracedProgram> {
    const port = await freePort();
    return new TracedProgram(app, port, {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WATCH)}`,
      LISTEN_HOST: '127.0.0.1',
      [`${app.toUpperCase()}_PORT`]: String(port),
      INDEX_MAX_LAG_SECONDS: '1000000000',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      ...settings,
    }).untilReady();
  }

  get hasLoadedOpenTelemetry(): boolean {
    return this.printed.includes('LOADED ');
  }
}
