import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StackError } from '../stack.error.js';

/**
 * Makes sure that a port can be listened on.
 * @param waitMs how long its user may take to go away
 * @throws StackError that names the variable to set
 */
export async function demandPort(
  port: number,
  { variable, waitMs }: { variable: string; waitMs: number },
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 200) {
    const fault = await listenFault(port);
    if (fault === undefined) return;
    if (fault !== 'EADDRINUSE' || waitedMs >= waitMs) {
      const reason = fault === 'EADDRINUSE' ? 'is taken by another program' : `gives ${fault}`;
      throw new StackError(
        `Port ${port} ${reason}. Choose another one: ${variable}=${port + 10} npm start`,
      );
    }
    await sleep(200);
  }
}

/** Tries every address the services may listen on: a program on 0.0.0.0 does not keep 127.0.0.1 from being bound everywhere. */
async function listenFault(port: number): Promise<string | undefined> {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const fault = await new Promise<string | undefined>((resolve) => {
      const probe = createServer();
      probe.on('error', (error: NodeJS.ErrnoException) => {
        resolve(error.code ?? error.message);
      });
      probe.listen(port, host, () =>
        probe.close(() => {
          resolve(undefined);
        }),
      );
    });
    if (fault !== undefined) return fault;
  }
  return undefined;
}
