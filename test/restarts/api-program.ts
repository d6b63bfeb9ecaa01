/** The API as an operator starts it: a process of its own. Needs a build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#libs/devprocess';

const GENEROUS_MS = 60_000;

export interface ApiProgramOptions {
  readonly databaseUrl: string;
  readonly secretsKey: string;
  /** Default: one that is free. */
  readonly port?: number;
  readonly shutdownDelayMs?: number;
}

export class ApiProgram {
  readonly url: string;
  /** How it ended: the exit code, or the signal. */
  readonly ended: Promise<number | string>;
  private running = true;

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    this.ended = once(child, 'exit').then(([code, signal]) => {
      this.running = false;
      return (code ?? signal) as number | string;
    });
  }

  /** Resolves when it is ready to serve. */
  static async start(options: ApiProgramOptions): Promise<ApiProgram> {
    const port = options.port ?? (await freePort());
    const child = spawn(process.execPath, ['dist/apps/api/src/main.js'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        DATABASE_URL: options.databaseUrl,
        SECRETS_KEY: options.secretsKey,
        API_PORT: String(port),
        API_HOST: '127.0.0.1',
        INDEX_MAX_LAG_SECONDS: '1000000000',
        SHUTDOWN_DELAY_MS: String(options.shutdownDelayMs ?? 0),
      },
    });
    const program = new ApiProgram(child, port);
    const deadline = Date.now() + GENEROUS_MS;
    while (!(await program.isReady())) {
      if (!program.running) throw new Error(`the API ended: ${await program.ended}`);
      if (Date.now() > deadline) throw new Error('the API is not ready after a minute');
      await sleep(50);
    }
    return program;
  }

  get isRunning(): boolean {
    return this.running;
  }

  async isReady(): Promise<boolean> {
    const answer = await fetch(`${this.url}/health/ready`).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    return answer?.status === 200;
  }

  /** Asks it to end, and waits for it. */
  terminate(): Promise<number | string> {
    this.child.kill('SIGTERM');
    return this.ended;
  }

  async kill(): Promise<void> {
    if (!this.running) return;
    this.child.kill('SIGKILL');
    await this.ended;
  }
}
