import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { readSettings, unknownSettings } from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { StoppedError, stopOnSignals } from '#libs/platform';
import { createLogger, listenOn, NestLogger, watchDescriptors } from '#libs/service';
import { startTracing } from '#libs/telemetry';
import { IndexerSettings } from './settings/indexer.env.js';
import { IndexerModule } from './indexer.module.js';
import { IndexerService } from './follow/indexer.service.js';

// V8 collects when the heap has doubled. With the heap limit of a small container it would collect when the heap has
// grown by 40 %, which costs a third of the CPU of a first sync. The limit itself stays.
setFlagsFromString('--heap-growing-percent=100');
// Several threads collect young objects no faster than one does, and take more CPU, which the database needs.
setFlagsFromString('--no-parallel-scavenge');

const startup = createLogger({ app: 'indexer' });

try {
  const settings = readSettings(IndexerSettings);
  const logger = createLogger({ app: 'indexer', level: settings.logLevel });
  for (const unknown of unknownSettings()) logger.warn(unknown);
  watchDescriptors(logger);
  const shutdown = stopOnSignals(logger);
  if (settings.indexPart === 'next') endWithCommand();
  const tracing = await startTracing({ service: 'lowmark-indexer', logger });
  const app = await shutdown.createUnlessStopped(() =>
    NestFactory.create<NestFastifyApplication>(
      IndexerModule.register(settings, logger),
      new FastifyAdapter(),
      { logger: new NestLogger(logger), abortOnError: false },
    ),
  );
  shutdown.closeOnSignal(tracing.endAfter(app));
  const { indexerPort, listenHost } = settings;
  await listenOn({ INDEXER_PORT: indexerPort }, () => app.listen(indexerPort, listenHost));
  logger.info({ port: indexerPort }, 'Health and metrics are up');
  await app.get(IndexerService).ended;
} catch (error) {
  if (error instanceof StoppedError) process.exit(0);
  // The message of a LowmarkError says what to correct, so its stack is not logged.
  if (error instanceof LowmarkError) startup.fatal({ code: error.code }, error.message);
  else startup.fatal({ err: error }, 'The indexer could not run');
  process.exit(1);
}

/** Ends this process, as SIGTERM does, when the command that started it ends in any way: it holds the other end. */
function endWithCommand(): void {
  process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM')).resume();
  // Otherwise the open pipe would keep a process that has stopped.
  process.stdin.unref();
}
