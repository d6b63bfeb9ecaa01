import { close, open } from 'node:fs';
import { devNull } from 'node:os';
import { type Logger } from '#libs/platform';

const EVERY_MS = 5000;
/** Errors of a process, and of a system, that has no file descriptor left. */
const OUT = ['EMFILE', 'ENFILE'];

/**
 * Logs that the process has no file descriptors left, and that it has some again. Without this nothing is logged: Node
 * drops new connections, and reports no error for them.
 */
export function watchDescriptors(logger: Logger): void {
  let isOut = false;
  setInterval(() => {
    open(devNull, (error, descriptor) => {
      if (error === null) close(descriptor);
      const wasOut = isOut;
      isOut = OUT.includes(error?.code ?? '');
      if (isOut && !wasOut)
        logger.error(
          { code: error?.code },
          'No file descriptors are left: new connections are dropped. Raise the limit of the process (ulimit -n, LimitNOFILE)',
        );
      else if (wasOut && !isOut) logger.info('There are file descriptors again');
    });
  }, EVERY_MS).unref();
}
