import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StackError } from './stack.error.js';

/**
 * Makes sure that all ports can be listened on.
 * @param ports by the variable that sets each
 * @param waitMs how long programs that end may still hold the ports
 * @throws StackError that names every port that is taken, and a command with other ports
 */
export async function demandPorts(
  ports: Readonly<Record<string, number>>,
  waitMs: number,
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 200) {
    const faults: { variable: string; port: number; fault: string }[] = [];
    for (const [variable, port] of Object.entries(ports)) {
      const fault = await listenFault(port);
      if (fault !== undefined) faults.push({ variable, port, fault });
    }
    if (faults.length === 0) return;
    if (faults.some(({ fault }) => fault !== 'EADDRINUSE') || waitedMs >= waitMs) {
      const what = faults.map(({ port, fault }) =>
        fault === 'EADDRINUSE'
          ? `Port ${port} is taken by another program.`
          : `Port ${port} gives ${fault}.`,
      );
      const others = faults.map(({ variable, port }) => `${variable}=${port + 10}`);
      throw new StackError(`${what.join(' ')} Choose another one: ${others.join(' ')} npm start`);
    }
    await sleep(200);
  }
}

/** Tries both addresses: on some systems a program on 0.0.0.0 does not prevent another one from binding 127.0.0.1. */
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
