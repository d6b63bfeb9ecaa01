import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StackError } from '../stack.error.js';
import { ManagedProcess } from '#libs/devprocess';

export interface ServiceOptions {
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
