/** A service as an operator starts it: a separate process. Needs a build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileCache } from '#libs/testing/programs';

const GENEROUS_MS = 60_000;

export interface ProgramPlace {
  readonly folder?: string | undefined;
  /** Address on which the service listens. */
  readonly host?: string;
}

export class ServiceProgram {
  readonly url: string;
  /** Resolves when the process has ended, with the exit code or the signal. */
  readonly ended: Promise<number | string>;
  private running = true;
  private readonly child: ChildProcess;

  protected constructor(
    private readonly app: string,
    readonly port: number,
    env: Readonly<Record<string, string>>,
    { folder = '.', host = '127.0.0.1' }: ProgramPlace = {},
  ) {
    this.child = spawn(process.execPath, [`${folder}/dist/apps/${app}/src/main.js`], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...(folder === '.' && compileCache()), ...env },
    });
    this.url = `http://${host}:${port}`;
    this.ended = once(this.child, 'exit').then(([code, signal]) => {
      this.running = false;
      return (code ?? signal) as number | string;
    });
  }

  get isRunning(): boolean {
    return this.running;
  }

  isReady(): Promise<boolean> {
    return this.says('ready');
  }

  /** As a load balancer asks. Once asked, the service goes on for some seconds when it is ended. */
  isAccepting(): Promise<boolean> {
    return this.says('accepting');
  }

  /** Suspends the service until `resume`: it keeps its connections and answers nothing. */
  hang(): void {
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  /** Ends the service with SIGTERM. @returns the exit code or the signal */
  terminate(): Promise<number | string> {
    this.child.kill('SIGTERM');
    return this.ended;
  }

  async kill(): Promise<void> {
    if (!this.running) return;
    this.child.kill('SIGKILL');
    await this.ended;
  }

  private async says(health: 'ready' | 'accepting'): Promise<boolean> {
    const answer = await fetch(`${this.url}/health/${health}`).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    return answer?.status === 200;
  }

  protected async untilReady(): Promise<this> {
    const deadline = Date.now() + GENEROUS_MS;
    while (!(await this.isReady())) {
      if (!this.running) throw new Error(`the ${this.app} ended: ${await this.ended}`);
      if (Date.now() > deadline) throw new Error(`the ${this.app} is not ready after a minute`);
      await sleep(50);
    }
    return this;
  }
}
