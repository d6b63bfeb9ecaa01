import { readSettings, unknownSettings } from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { StoppedError, stopOnSignals } from '#libs/platform';
import { createLogger, listenOn, watchDescriptors } from '#libs/service';
import { startTracing } from '#libs/telemetry';
import { createPartner } from './create-partner.js';
import { PartnerSettings } from './partner.env.js';

const startup = createLogger({ app: 'partner' });

try {
  const settings = readSettings(PartnerSettings);
  const logger = createLogger({ app: 'partner', level: settings.logLevel });
  for (const unknown of unknownSettings()) logger.warn(unknown);
  watchDescriptors(logger);
  const shutdown = stopOnSignals(logger);
  const tracing = await startTracing({ service: 'lowmark-partner', logger });
  const app = await shutdown.createUnlessStopped(() => createPartner({ settings, logger }));
  shutdown.closeOnSignal(tracing.endAfter(app));
  const { partnerPort, listenHost } = settings;
  await listenOn({ PARTNER_PORT: partnerPort }, () => app.listen(partnerPort, listenHost));
  logger.info({ url: await app.getUrl() }, 'Serving');
} catch (error) {
  if (error instanceof StoppedError) process.exit(0);
  // The message says what to correct; the stack of a wrong setting adds nothing.
  if (error instanceof LowmarkError) startup.fatal({ code: error.code }, error.message);
  else startup.fatal({ err: error }, 'The reference partner could not run');
  process.exit(1);
}
