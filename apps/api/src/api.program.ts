import { environmentOrStack, readSettings, unknownSettings } from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { StoppedError, stopOnSignals } from '#libs/platform';
import { createLogger, listenOn, watchDescriptors } from '#libs/service';
import { startTracing } from '#libs/telemetry';
import { ApiSettings } from './api.env.js';
import { createApi } from './create-api.js';

const startup = createLogger({ app: 'api' });

try {
  const settings = readSettings(ApiSettings, environmentOrStack(undefined, undefined, 'api'));
  const logger = createLogger({ app: 'api', level: settings.logLevel });
  for (const unknown of unknownSettings()) logger.warn(unknown);
  watchDescriptors(logger);
  const shutdown = stopOnSignals(logger);
  const tracing = await startTracing({ service: 'lowmark-api', logger });
  const app = await shutdown.createUnlessStopped(() => createApi({ settings, logger }));
  shutdown.closeOnSignal(tracing.endAfter(app));
  const { apiPort, managementPort, listenHost } = settings;
  await listenOn({ API_PORT: apiPort, MANAGEMENT_PORT: managementPort }, () =>
    app.listen(apiPort, listenHost),
  );
  logger.info({ url: await app.getUrl() }, 'Serving');
} catch (error) {
  if (error instanceof StoppedError) process.exit(0);
  // The message of a LowmarkError says what to correct, so its stack is not logged.
  if (error instanceof LowmarkError) startup.fatal({ code: error.code }, error.message);
  else startup.fatal({ err: error }, 'The API could not run');
  process.exit(1);
}
