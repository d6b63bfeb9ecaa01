/** A service as an operator starts it: a separate process. Needs a build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileCache } from '#libs/testing/programs';

const GENEROUS_MS = 150_000;

export interface ProgramPlace {
  readonly folder?: string | undefined;
  /** Address on which the service listens. */
  readonly host?: string;
}

export class ServiceProgram {
  readonly url: string;
  /** Standard output and standard error so far. */
  printed = '';
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
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...(folder === '.' && compileCache()), ...env },
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.printed += text));
    }
    this.url = `http://${host}:${port}`;
    this.ended = once(this.child, 'exit').then(([code, signal]) => {
      this.running = false;
      return (code ?? signal) as number | string;
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.running;
  }

  /** The lines of the program's log. */
  get log(): Record<string, unknown>[] {
    const lines = this.printed.split('\n').filter((line) => /^\{.*\}$/.test(line));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
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
      if (!this.running || Date.now() > deadline) {
        await this.kill();
        throw new Error(`the ${this.app} is not ready:\n${this.printed}`);
      }
      await sleep(50);
    }
    return this;
  }
}
