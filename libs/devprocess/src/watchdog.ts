import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Ends our child processes when this process dies without a chance to end them (`kill -9`, a crash of a test worker).
 *
 * One helper process holds the reading end of a pipe from this process. The system closes the pipe when this process
 * ends in any way; the helper then sends SIGTERM to the watched processes, in the reverse order of `add`, each with up
 * to five seconds before SIGKILL. The helper runs in its own session, so that a Ctrl-C in the terminal does not reach
 * it.
 */
export class Watchdog {
  readonly #helper: ChildProcess;

  constructor() {
    this.#helper = spawn(process.execPath, ['--input-type=module', '--eval', HELPER], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#helper.on('error', () => undefined);
    // The helper must not keep this process running, and a write to a killed helper must not fail this process.
    this.#helper.unref();
    this.#helper.stdin?.on('error', () => undefined);
    (this.#helper.stdin as { unref?: () => void } | null)?.unref?.();
  }

  /** Watches a process until `remove`. Call it as soon as the process is spawned. */
  add(pid: number): void {
    this.#helper.stdin?.write(`+${pid}\n`);
  }

  /** Call it once the process has ended, since the system may give its id to another process. */
  remove(pid: number): void {
    this.#helper.stdin?.write(`-${pid}\n`);
  }
}

let shared: Watchdog | undefined;

/** The single watchdog of this process. */
export function watchdog(): Watchdog {
  shared ??= new Watchdog();
  return shared;
}

const HELPER = `
let text = '';
const pids = [];
const alive = (pid) => { try { process.kill(pid, 0); return true; } catch { return false; } };
const send = (pid, signal) => { try { process.kill(pid, signal); } catch { /* it has ended */ } };
process.stdin.on('data', (chunk) => { text += chunk; });
process.stdin.on('error', () => {});
process.stdin.on('close', async () => {
  for (const line of text.split('\\n')) {
    const pid = Number(line.slice(1));
    if (line[0] === '+') pids.push(pid);
    if (line[0] === '-') pids.splice(pids.indexOf(pid), 1);
  }
  for (const pid of pids.reverse()) {
    send(pid, 'SIGTERM');
    for (let waitedMs = 0; waitedMs < 5000 && alive(pid); waitedMs += 50) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    send(pid, 'SIGKILL');
  }
});
`;
