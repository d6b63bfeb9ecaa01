import { readSettings, unknownSettings } from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { StoppedError, stopOnSignals } from '#libs/platform';
import { createLogger, listenOn, watchDescriptors } from '#libs/service';
import { startTracing } from '#libs/telemetry';
import { ConsoleSettings } from './console.env.js';
import { createConsole } from './create-console.js';

const startup = createLogger({ app: 'console' });

try {
  const settings = readSettings(ConsoleSettings);
  const logger = createLogger({ app: 'console', level: settings.logLevel });
  for (const unknown of unknownSettings()) logger.warn(unknown);
  watchDescriptors(logger);
  const shutdown = stopOnSignals(logger);
  const tracing = await startTracing({ service: 'lowmark-console', logger });
  const app = await shutdown.createUnlessStopped(() => createConsole({ settings, logger }));
  shutdown.closeOnSignal(tracing.endAfter(app));
  const { consolePort, managementPort, listenHost } = settings;
  await listenOn({ CONSOLE_PORT: consolePort, MANAGEMENT_PORT: managementPort }, () =>
    app.listen(consolePort, listenHost),
  );
  logger.info({ url: await app.getUrl() }, 'Serving');
} catch (error) {
  if (error instanceof StoppedError) process.exit(0);
  // The message says what to mend; the stack of a wrong setting adds nothing.
  if (error instanceof LowmarkError) startup.fatal({ code: error.code }, error.message);
  else startup.fatal({ err: error }, 'The console could not run');
  process.exit(1);
}
