import { PermanentError } from '#libs/domain';
import { type Logger } from './logger.js';

export interface Closable {
  close(): Promise<void>;
}

/** A signal came while the application was being created: there is nothing to close, and the process has to end. */
export class StoppedError extends PermanentError {
  constructor(signal: NodeJS.Signals) {
    super('STOPPED', `${signal} came before the application was made`);
  }
}

export interface Shutdown {
  /**
   * Creates the application. Once a signal has come, the creation is not awaited any more: it may itself be waiting for
   * the database or the chain.
   * @throws StoppedError, or the error of `make`
   */
  createUnlessStopped<T>(make: () => Promise<T>): Promise<T>;
  /** Sets the application that a signal closes from now on. */
  closeOnSignal(application: Closable): void;
}

/**
 * Listens to signals from now on: the first process of a container receives SIGTERM only if it listens to it. Closes
 * the application at the first SIGTERM or SIGINT; the process then ends by itself, with exit code 0 where closing
 * succeeded and 1 where not. A second signal ends the process at once, as without a handler.
 */
export function stopOnSignals(logger: Logger): Shutdown {
  const stopped = new AbortController();
  let made: Closable | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    process.off('SIGTERM', stop).off('SIGINT', stop);
    logger.info({ signal }, 'Stopping');
    if (made === undefined) stopped.abort(new StoppedError(signal));
    else close(made, logger);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  return {
    async createUnlessStopped(make) {
      stopped.signal.throwIfAborted();
      return Promise.race([make(), rejection(stopped.signal)]);
    },
    closeOnSignal(application) {
      made = application;
    },
  };
}

function close(application: Closable, logger: Logger): void {
  application.close().then(
    () => {
      logger.info('Stopped');
    },
    (error: unknown) => {
      logger.error({ err: error }, 'Did not stop cleanly');
      process.exitCode = 1;
    },
  );
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
}
