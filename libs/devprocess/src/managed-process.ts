import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { watchdog } from './watchdog.js';

export interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Default: the environment of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Receives both outputs; the log of the previous start is kept as `<file>.1`. */
  readonly logFile: string;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** The signal that asks the process to end; default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
}

/**
 * A child process with its log on disk. It runs in a session of its own, so that a Ctrl-C in the terminal reaches only
 * the stack, which stops its parts in order; where the stack is killed, the watchdog ends the process.
 */
export class ManagedProcess {
  /** Resolves when the process has ended, to a description such as `exit code 1`. */
  readonly ended: Promise<string>;
  #running = true;

  private constructor(
    private readonly options: ProcessOptions,
    private readonly child: ChildProcess,
  ) {
    const { pid } = child;
    if (pid !== undefined) watchdog().add(pid);
    this.ended = new Promise((resolve) => {
      child.on('error', (error) => {
        this.#running = false;
        resolve(`could not be started: ${error.message}`);
      });
      child.on('exit', (code, signal) => {
        this.#running = false;
        if (pid !== undefined) watchdog().remove(pid);
        resolve(signal === null ? `exit code ${String(code)}` : `signal ${signal}`);
      });
    });
  }

  static async start(options: ProcessOptions): Promise<ManagedProcess> {
    await rename(options.logFile, `${options.logFile}.1`).catch(ignoreMissing);
    const log = openSync(options.logFile, 'a', 0o600);
    try {
      const child = spawn(options.command, options.args, {
        detached: true,
        windowsHide: true,
        stdio: ['ignore', log, log],
        ...(options.environment && { env: options.environment }),
        ...options.user,
      });
      return new ManagedProcess(options, child);
    } finally {
      closeSync(log);
    }
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** Asks the process to end, and kills it after `limitMs`. */
  async stop(limitMs = 10_000): Promise<void> {
    if (!this.#running) return;
    this.child.kill(this.options.stopSignal ?? 'SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), limitMs);
    await this.ended;
    clearTimeout(timer);
  }

  async tail(lines = 15): Promise<string[]> {
    const text = await readFile(this.options.logFile, 'utf8');
    return text.trimEnd().split('\n').slice(-lines);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/**
 * Below the ephemeral ports of Linux, macOS and Windows, so that no connection and no server on an assigned port takes
 * the port before its program does.
 */
const PORTS = { first: 20_000, end: 32_768 };
/** A port is given once, since its program may not listen yet when the next one is asked for. */
const given = new Set<number>();

/** A loopback port that is free now, for a program that cannot listen on port 0 and report its port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.end);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
