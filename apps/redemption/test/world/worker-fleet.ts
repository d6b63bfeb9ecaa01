/** The worker processes of a test: starts them, sets their time, kills them with SIGKILL, and replaces them. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type WorkerOrder, type WorkerSetup, type WorkerWord } from './worker-orders.js';

interface Member {
  readonly child: ChildProcess;
  ready: boolean;
  /** The last time that the worker has confirmed, Unix milliseconds. */
  heardMs: number | undefined;
}

const MOST_LINES = 5000;
const PROGRAM = 'world/worker.program.js';

/** The file is next to this one where this one runs compiled, and under dist/ where Jest compiles this one itself. */
function programFile(): string {
  const near = join(import.meta.dirname, '..', PROGRAM);
  return existsSync(near) ? near : join('dist', 'apps', 'redemption', 'test', PROGRAM);
}

export class WorkerFleet {
  kills = 0;
  /** The last warnings of the workers. */
  readonly lines: string[] = [];
  /** Workers that ended by themselves, with their exit codes; there should be none. */
  readonly deaths: string[] = [];
  private readonly members = new Set<Member>();
  private starts = 0;
  private sleepers: (() => void)[] = [];

  constructor(private readonly setupOf: (ordinal: number) => WorkerSetup) {}

  get ready(): number {
    return [...this.members].filter(({ ready }) => ready).length;
  }

  get pids(): number[] {
    return [...this.members].flatMap(({ child }) => child.pid ?? []);
  }

  /** Starts workers until `count` of them are ready. */
  async start(count: number): Promise<void> {
    while (this.members.size < count) this.add();
    await this.until(() => this.ready >= count);
  }

  /** Sets the time of every living worker, and waits for their confirmations. */
  async tell(nowMs: number): Promise<void> {
    const told = [...this.members];
    for (const member of told) this.order(member, { kind: 'time', nowMs });
    await this.until(() =>
      told.every((one) => !one.ready || one.heardMs === nowMs || !this.members.has(one)),
    );
  }

  /**
   * Kills one worker with SIGKILL, and starts another one.
   * @returns once the worker is dead, or at once where none is alive
   */
  async killOne(choice: number, replace = true): Promise<void> {
    const ready = [...this.members].filter((one) => one.ready);
    const victim = ready[choice % Math.max(1, ready.length)];
    if (victim === undefined) return;
    this.kills++;
    this.members.delete(victim);
    this.wake();
    victim.child.kill('SIGKILL');
    if (replace) this.add();
    await once(victim.child, 'exit');
  }

  async stop(): Promise<void> {
    const children = [...this.members].map(({ child }) => child);
    this.members.clear();
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }),
    );
  }

  private add(): void {
    const ordinal = this.starts++;
    // Not this process' own options: Jest needs options that a worker does not.
    const child = fork(programFile(), {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const member: Member = { child, ready: false, heardMs: undefined };
    this.members.add(member);
    child.on('message', (word: WorkerWord) => {
      this.hear(member, word);
    });
    child.on('error', () => undefined);
    child.on('exit', (code, signal) => {
      if (!this.members.delete(member)) return;
      this.deaths.push(`worker ${ordinal} ended with ${String(signal ?? code)}`);
      this.wake();
    });
    this.order(member, { kind: 'start', setup: this.setupOf(ordinal) });
  }

  private wake(): void {
    for (const sleeper of this.sleepers.splice(0)) sleeper();
  }

  private hear(member: Member, word: WorkerWord): void {
    if (word.kind === 'log') {
      this.lines.push(word.line.trimEnd());
      if (this.lines.length > MOST_LINES) this.lines.shift();
      return;
    }
    if (word.kind === 'ready') member.ready = true;
    else member.heardMs = word.nowMs;
    this.wake();
  }

  private order({ child }: Member, order: WorkerOrder): void {
    // Sending to a dying worker may fail; its exit is handled elsewhere.
    child.send(order, () => undefined);
  }

  private async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.deaths.length > 0) throw new Error(this.deaths.join(', '));
      await new Promise<void>((resolve) => {
        this.sleepers.push(resolve);
      });
    }
  }
}
