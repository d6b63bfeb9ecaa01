/** A program as an operator starts it, with the environment variables of OpenTelemetry. Needs a build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileCache } from '#libs/testing/programs';

const GENEROUS_MS = 60_000;

/** Reports on standard error when the OpenTelemetry SDK is loaded. */
const WATCH = `
import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';
registerHooks({ load(url, context, next) {
  if (url.endsWith('/@opentelemetry/sdk-node/dist/index.mjs')) writeSync(2, 'LOADED ' + url + '\\n');
  return next(url, context);
} });`;

export class TracedProgram {
  /** Standard output and standard error so far. */
  printed = '';
  /** Resolves when the process has ended, with the exit code or the signal. */
  readonly ended: Promise<number | string>;
  private running = true;

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.printed += text));
    }
    this.ended = once(child, 'exit').then(([code, signal]) => {
      this.running = false;
      return (code ?? signal) as number | string;
    });
  }

  /** Resolves when the program is ready to serve at the URL. */
  static async start(
    app: string,
    url: string,
    environment: NodeJS.ProcessEnv,
  ): Promise<TracedProgram> {
    const watch = `--import=data:text/javascript,${encodeURIComponent(WATCH)}`;
    const child = spawn(process.execPath, [watch, resolve(`dist/apps/${app}/src/main.js`)], {
      env: { PATH: process.env['PATH'], ...compileCache(), ...environment },
    });
    const program = new TracedProgram(child, url);
    for (let waitedMs = 0; !(await program.isReady()); waitedMs += 100) {
      if (!program.running || waitedMs > GENEROUS_MS) {
        await program.kill();
        throw new Error(`the program is not ready:\n${program.printed}`);
      }
      await sleep(100);
    }
    return program;
  }

  get hasLoadedOpenTelemetry(): boolean {
    return this.printed.includes('LOADED ');
  }

  /** The lines of the program's log. */
  get log(): Record<string, unknown>[] {
    const lines = this.printed.split('\n').filter((line) => line.startsWith('{'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Ends the program with SIGTERM. @returns the exit code or the signal */
  terminate(): Promise<number | string> {
    this.child.kill('SIGTERM');
    return this.ended;
  }

  async kill(): Promise<void> {
    if (!this.running) return;
    this.child.kill('SIGKILL');
    await this.ended;
  }

  private async isReady(): Promise<boolean> {
    const answer = await fetch(`${this.url}/health/ready`).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    return answer?.status === 200;
  }
}
