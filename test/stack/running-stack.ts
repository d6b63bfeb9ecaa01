import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The fields of `.data/stack.json` that the tests use. */
export interface StackFacts {
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly indexerUrl: string;
  readonly redemptionUrl: string;
  readonly consoleUrl: string;
  readonly partnerUrl: string;
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly stakeContract: string;
  readonly tokenContract: string;
  readonly vaultContract: string;
  readonly voucherSignerKey: string;
  readonly secretsKey: string;
  readonly partnerCallback: { readonly key: string; readonly secret: string };
  readonly partner: {
    readonly name: string;
    readonly apiKey: string;
    readonly sharedSecret: string;
  };
}

/** Settings for the ports of the stack's services. */
export const STACK_PORTS = [
  'API_PORT',
  'INDEXER_PORT',
  'REDEMPTION_PORT',
  'CONSOLE_PORT',
  'PARTNER_PORT',
] as const;

const READY = 'Ctrl-C ends everything';
const DEMONSTRATED = 'Both are done.';
/** Less than Jest's limit of a test, so that a failure shows the output. */
const LIMIT_MS = 170_000;
/** For hooks with a limit of their own: a busy machine needs several times what an idle one does. */
export const START_MS = 300_000;

/** The stack as `npm start` runs it, in a directory of the test. */
export class RunningStack {
  static readonly PROGRAM = 'dist/apps/stack/src/main.js';

  output = '';
  readonly ended: Promise<number | null>;

  private constructor(
    readonly directory: string,
    readonly child: ChildProcess,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    }
    this.ended = once(child, 'close').then(([code]) => code as number | null);
  }

  static start(
    directory: string,
    environment: Readonly<Record<string, string>>,
    ...args: string[]
  ): RunningStack {
    const child = spawn(process.execPath, [resolve(RunningStack.PROGRAM), ...args], {
      cwd: directory,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new RunningStack(directory, child);
  }

  /** Waits until the output contains the text. */
  async shows(text = READY, limitMs = LIMIT_MS): Promise<void> {
    for (let waitedMs = 0; !this.output.includes(text); waitedMs += 50) {
      const over = this.child.exitCode !== null || this.child.signalCode !== null;
      if (this.output.includes('THE DEMONSTRATION FAILED')) throw new Error(this.output);
      if (over || waitedMs > limitMs) throw new Error(`did not show "${text}":\n${this.output}`);
      await new Promise((wake) => setTimeout(wake, 50));
    }
  }

  /** Waits until both redemptions of the demonstration are finished. */
  async demonstrates(limitMs = LIMIT_MS): Promise<void> {
    await this.shows(DEMONSTRATED, limitMs);
  }

  async facts(): Promise<StackFacts> {
    const text = await readFile(join(this.directory, '.data/stack.json'), 'utf8');
    return JSON.parse(text) as StackFacts;
  }

  /** Ends the stack as Ctrl-C does. @returns the exit code */
  async stop(): Promise<number | null> {
    this.child.kill('SIGINT');
    return this.ended;
  }
}
