import { readSettings, unknownSettings } from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { StoppedError, stopOnSignals } from '#libs/platform';
import { createLogger, listenOn, watchDescriptors } from '#libs/service';
import { startTracing } from '#libs/telemetry';
import { createRedemption } from './create-redemption.js';
import { RedemptionSettings } from './redemption.env.js';

const startup = createLogger({ app: 'redemption' });

try {
  const settings = readSettings(RedemptionSettings);
  const logger = createLogger({ app: 'redemption', level: settings.logLevel });
  for (const unknown of unknownSettings()) logger.warn(unknown);
  watchDescriptors(logger);
  const shutdown = stopOnSignals(logger);
  const tracing = await startTracing({ service: 'lowmark-redemption', logger });
  const app = await shutdown.createUnlessStopped(() => createRedemption({ settings, logger }));
  shutdown.closeOnSignal(tracing.endAfter(app));
  const { redemptionPort, managementPort, listenHost } = settings;
  await listenOn({ REDEMPTION_PORT: redemptionPort, MANAGEMENT_PORT: managementPort }, () =>
    app.listen(redemptionPort, listenHost),
  );
  logger.info({ url: await app.getUrl() }, 'Serving');
} catch (error) {
  if (error instanceof StoppedError) process.exit(0);
  // The message says what to correct; the stack of a wrong setting adds nothing.
  if (error instanceof LowmarkError) startup.fatal({ code: error.code }, error.message);
  else startup.fatal({ err: error }, 'The redemption service could not run');
  process.exit(1);
}
