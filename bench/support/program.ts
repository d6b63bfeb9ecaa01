/** Runs programs under measurement, each in a separate process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { watchdog } from '#libs/devprocess';

export interface ProgramOptions {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Options of Node itself, such as --cpu-prof. */
  readonly nodeOptions?: readonly string[];
}

/** The unit in which the kernel counts CPU time (USER_HZ). */
const TICKS_PER_SECOND = 100;

export class Program {
  readonly startedAtMs = performance.now();
  readonly pid: number;
  readonly ended: Promise<number | null>;
  #code: number | null | undefined;

  private constructor(
    private readonly file: string,
    private readonly options: ProgramOptions,
  ) {
    const { args = [], environment = {}, nodeOptions = [], logFile } = options;
    const log = openSync(logFile, 'w');
    // The program gets no settings of this shell, only those of the benchmark.
    const child = spawn(process.execPath, [...nodeOptions, file, ...args], {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    if (child.pid === undefined) throw new Error(`${file} could not be started`);
    this.pid = child.pid;
    watchdog().add(this.pid);
    this.ended = once(child, 'exit').then(([code]) => {
      watchdog().remove(this.pid);
      this.#code = code as number | null;
      return this.#code;
    });
  }

  static start(file: string, options: ProgramOptions): Program {
    return new Program(file, options);
  }

  get hasEnded(): boolean {
    return this.#code !== undefined;
  }

  /** @throws Error with the end of the log where the program has ended */
  requireRunning(): void {
    if (this.#code === undefined) return;
    throw new Error(`${this.file} ended with ${String(this.#code)}:\n${this.tail()}`);
  }

  /** The largest resident memory so far in MiB; undefined once the process has ended. */
  peakMebibytes(): number | undefined {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const kibibytes = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) / 1024;
  }

  /** Lets `peakMebibytes` begin again with the present memory; see proc_pid_clear_refs(5). */
  resetPeak(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5');
  }

  cpuSeconds(): number {
    return cpuSeconds(this.pid);
  }

  /** Ends the program without a chance to clean up. */
  async kill(): Promise<void> {
    if (this.#code === undefined) process.kill(this.pid, 'SIGKILL');
    await this.ended;
  }

  async stop(): Promise<void> {
    if (this.#code === undefined) process.kill(this.pid, 'SIGTERM');
    const timer = setTimeout(() => {
      process.kill(this.pid, 'SIGKILL');
    }, 10_000);
    await this.ended;
    clearTimeout(timer);
  }

  tail(): string {
    return readFileSync(this.options.logFile, 'utf8').trimEnd().split('\n').slice(-10).join('\n');
  }
}

/** CPU seconds of all threads of a process so far; 0 where the process has ended. */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

/** CPU seconds of a process and all its descendants so far, including those that have ended. */
export function familyCpuSeconds(pid: number): number {
  const fields = statOf(pid);
  const ended = (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / TICKS_PER_SECOND;
  return childrenOf(pid).reduce(
    (sum, child) => sum + familyCpuSeconds(child),
    cpuSeconds(pid) + ended,
  );
}

/** Children belong to the thread that started them. */
function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim();
      return children === '' ? [] : children.split(' ').map(Number);
    });
  } catch {
    return [];
  }
}

/** The fields of /proc/<pid>/stat from the third on; see proc_pid_stat(5). */
function statOf(pid: number): string[] {
  try {
    // Only the program's name may hold spaces; it is in brackets before the third field.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  } catch {
    return [];
  }
}
