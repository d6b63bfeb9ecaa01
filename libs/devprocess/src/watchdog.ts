import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Ends our child processes when this process dies without a chance to do it (`kill -9`, a crash of a test worker).
 *
 * One helper process holds the reading end of a pipe of ours. The system closes the pipe with this process, whatever ends
 * it; the helper then sends SIGTERM to the processes it was told of, in the reverse order of `add`, each with some seconds
 * before SIGKILL. It lives in its own session, so that a Ctrl-C in the terminal does not reach it.
 */
export class Watchdog {
  readonly #helper: ChildProcess;

  constructor() {
    this.#helper = spawn(process.execPath, ['--input-type=module', '--eval', HELPER], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#helper.on('error', () => undefined);
    // The helper must never keep us alive, and writing to one that was killed is no reason to fail.
    this.#helper.unref();
    this.#helper.stdin?.on('error', () => undefined);
    (this.#helper.stdin as { unref?: () => void } | null)?.unref?.();
  }

  /** Watches a process until `remove`; call it as soon as the process is spawned. */
  add(pid: number): void {
    this.#helper.stdin?.write(`+${pid}\n`);
  }

  /** To be called once the process has ended: its number may be given to another one. */
  remove(pid: number): void {
    this.#helper.stdin?.write(`-${pid}\n`);
  }
}

let shared: Watchdog | undefined;

/** The one watchdog of this process. */
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
