/**
 * `npm start`: the whole system on one machine.
 *
 *   npm start              continues with the data of the last start
 *   npm start -- --fresh   deletes everything in .data/ first
 *
 * Starts in this order, and ends in reverse: lock, ports, database and chain (concurrently), activity, services,
 * demonstration. A signal or the death of a part ends the stack at any moment; where the stack itself is killed, the
 * watchdog of #libs/devprocess ends its parts.
 */
import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { processEnvironment, readSettings, unknownSettings } from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { Closers, Screen } from './context.js';
import { StackFileStore } from './data/stack-file.js';
import { StackLock } from './data/stack-lock.js';
import { demandPorts } from './demand-ports.js';
import { portsOf } from './services.js';
import { StackSettings } from './stack.env.js';
import { StackError } from './stack.error.js';
import { startStack } from './stack.js';

const DATA = '.data';
const PATHS = {
  postgres: `${DATA}/postgres`,
  chain: `${DATA}/chain`,
  logs: `${DATA}/logs`,
  stackFile: `${DATA}/stack.json`,
  lock: `${DATA}/stack.lock`,
};
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How long the parts of a killed stack may take to end. */
const LEFTOVER_WAIT_MS = 12_000;
const IMPATIENCE_MS = 1_000;
const PARENT_CHECK_MS = 500;

const ending = new AbortController();
const screen = new Screen(systemClock, (line) => {
  console.log(line);
});
const closers = new Closers((name, error) => {
  console.error(`${name} did not end well: ${String(error)}`);
});
let releaseLock = (): Promise<void> => Promise.resolve();

async function main(): Promise<void> {
  const { fresh } = options();
  const settings = readSettings(StackSettings);
  for (const unknown of unknownSettings()) screen.step('settings', unknown);
  await mkdir(DATA, { recursive: true });
  // The embedded PostgreSQL may run as another user, who needs access to its folder below this one.
  await chmod(DATA, 0o755);
  const lock = await StackLock.take(PATHS.lock);
  releaseLock = () => lock.release();
  const waitMs = lock.replacedStaleLock ? LEFTOVER_WAIT_MS : 0;
  if (lock.replacedStaleLock)
    screen.step('stack', 'the last one did not end by itself; takes over from it');
  await demandPorts(portsOf(settings), waitMs);
  if (fresh) await forget(settings);
  await mkdir(PATHS.logs, { recursive: true });
  ending.signal.throwIfAborted();
  await startStack({
    settings,
    clock: systemClock,
    screen,
    closers,
    file: await StackFileStore.open(PATHS.stackFile),
    paths: PATHS,
    signal: ending.signal,
    reportDeath: (report) => {
      ending.abort(new StackError(report));
    },
  });
}

function options(): { fresh: boolean } {
  try {
    const { values } = parseArgs({ options: { fresh: { type: 'boolean', default: false } } });
    return values;
  } catch {
    throw new StackError('Usage: npm start [-- --fresh]');
  }
}

async function forget(settings: StackSettings): Promise<void> {
  for (const path of [PATHS.postgres, PATHS.chain, PATHS.logs, PATHS.stackFile]) {
    await rm(path, { recursive: true, force: true });
  }
  screen.step('stack', 'starts over');
  if (settings.databaseUrl !== undefined) {
    screen.step('database', 'the one of DATABASE_URL is left as it is');
  }
}

/** Resolves when the stack has to end: to undefined after a signal, else to the StackError. */
async function ended(): Promise<unknown> {
  await once(ending.signal, 'abort');
  const reason: unknown = ending.signal.reason;
  return reason instanceof StackError ? reason : undefined;
}

function show(error: unknown): void {
  if (error instanceof LowmarkError || (error as Error).name === 'SettingsError') {
    console.error(`\n${(error as Error).message}`);
  } else {
    console.error(error);
  }
}

let signalledMs: number | undefined;
for (const signal of SIGNALS) {
  process.on(signal, () => {
    const nowMs = systemClock.nowMs();
    signalledMs ??= nowMs;
    // npm forwards a Ctrl-C that the terminal has sent to this process too. A later signal demands to end at once.
    if (nowMs - signalledMs > IMPATIENCE_MS) process.exit(1);
    if (!ending.signal.aborted) screen.step('stack', 'ends (once more: at once)');
    ending.abort();
  });
}

// With this variable set, npm and a shell run between this process and the process that started npm.
if (processEnvironment()['npm_lifecycle_event'] !== undefined) {
  // A signal that ends npm also ends its shell and does not reach this process, so a new parent ends the stack. A
  // SIGINT to npm alone ends nothing: npm waits for this process.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) ending.abort();
  }, PARENT_CHECK_MS).unref();
}

const end = ended();
const started = main();
const fault = await Promise.race([started.then(() => end), end]).catch((error: unknown) => error);
if (fault !== undefined) {
  show(fault);
  process.exitCode = 1;
}
ending.abort();
await closers.closeAll();
// An interrupted start may have added cleanup steps after `closeAll`.
await started.catch(() => undefined);
await closers.late();
await releaseLock();
if (fault === undefined) screen.step('stack', 'has ended; npm start goes on from here');
process.exit();
