import { type Logger } from './logger/logger.js';

/** What is to be closed: a Nest application, for one. */
export interface Closable {
  close(): Promise<void>;
}

/**
 * Closes the application at the first SIGTERM or SIGINT; the process then ends by itself, with exit code 0 where all closed well
 * and 1 where not. A second signal ends it at once, as without a handler.
 */
export function closeOnSignals(application: Closable, logger: Logger): void {
  const stop = (signal: NodeJS.Signals): void => {
    process.off('SIGTERM', stop).off('SIGINT', stop);
    logger.info({ signal }, 'Stopping');
    application.close().then(
      () => {
        logger.info('Stopped');
      },
      (error: unknown) => {
        logger.error({ err: error }, 'Did not stop cleanly');
        process.exitCode = 1;
      },
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
