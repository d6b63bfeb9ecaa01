import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ManagedProcess } from '#libs/devprocess';
import { StackError } from '../stack.error.js';

interface ServiceOptions {
  /** The folder under apps. */
  readonly name: string;
  readonly port: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly logs: string;
}

/** One of our services as a child process. */
export class Service {
  readonly url: string;

  private constructor(
    readonly name: string,
    port: number,
    readonly process: ManagedProcess,
  ) {
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start({ name, port, environment, logs }: ServiceOptions): Promise<Service> {
    const process = await ManagedProcess.start({
      command: globalThis.process.execPath,
      args: ['--enable-source-maps', mainOf(name)],
      environment,
      logFile: join(logs, `${name}.log`),
    });
    return new Service(name, port, process);
  }

  /**
   * Waits until the service says that it is ready, however long that takes.
   * @param onWaiting gets the reason it gives for not being ready
   * @throws StackError where the process ends before, or what `signal` was aborted with
   */
  async ready(signal: AbortSignal, onWaiting: (reason: string) => void): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      if (!this.process.isRunning) throw new StackError(await this.report());
      const reason = await this.#unready();
      if (reason === undefined) return;
      onWaiting(reason);
      await sleep(100);
    }
  }

  /** How it ended, with the end of its log. */
  async report(): Promise<string> {
    const how = await this.process.ended;
    const tail = (await this.process.tail()).map((line) => `    ${line.slice(0, 1_000)}`);
    return [`The ${this.name} ended with ${how}. The end of its log:`, ...tail].join('\n');
  }

  async #unready(): Promise<string | undefined> {
    try {
      const answer = await fetch(`${this.url}/health/ready`, {
        signal: AbortSignal.timeout(5_000),
      });
      const text = await answer.text();
      return answer.status === 200 ? undefined : reasonIn(text);
    } catch {
      // Not listening yet, or too busy to answer: the state of the process tells when to give up.
      return 'it does not answer yet';
    }
  }
}

/** The reasons of a health report, or the answer itself where it is something else. */
function reasonIn(text: string): string {
  try {
    const { reasons } = JSON.parse(text) as { reasons: string[] };
    return reasons.join('; ');
  } catch {
    return text.slice(0, 200);
  }
}

/** The built main file of an app. */
export function mainOf(app: string): string {
  return fileURLToPath(new URL(`../../../${app}/src/main.js`, import.meta.url));
}

/**
 * Makes sure that all ports can be listened on.
 * @param ports by the variable that sets each
 * @param waitMs how long their users may take to go away
 * @throws StackError that names every port that is taken, and the command with others
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

/**
 * The environment of the services: that of the stack itself, so that every setting of theirs can be made when it starts,
 * and what the stack adds. A variable the stack adds replaces both its forms (`NAME` and `NAME_FILE`); a default gives way to
 * one that is not empty; a list, its entries separated by commas, is followed by what is set already.
 */
export function childEnvironment(
  added: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>> = {},
  lists: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  // eslint-disable-next-line no-restricted-syntax -- handed on as it is; what the stack itself needs is in stack.env.ts
  const environment: NodeJS.ProcessEnv = { ...process.env };
  for (const [name, value] of Object.entries(defaults)) {
    if (!environment[name]) environment[name] = value;
  }
  for (const [name, value] of Object.entries(lists)) {
    environment[name] = environment[name] ? `${value},${environment[name]}` : value;
  }
  for (const [name, value] of Object.entries(added)) {
    environment[name] = value;
    environment[`${name}_FILE`] = undefined;
  }
  return environment;
}

/** Whether npm runs us: it then sits, with a shell, between us and the process that started it. */
export function startedByNpm(): boolean {
  // eslint-disable-next-line no-restricted-syntax -- npm's own variable, in lower case: not a setting
  return process.env['npm_lifecycle_event'] !== undefined;
}
