/**
 * Kills a test process whose event loop stands still, and names the test. Jest's own time limits are timers: a loop
 * that never ends keeps them from firing, and the run would hang.
 */
import { writeSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const BEAT_MS = 1000;

/**
 * Starts a thread that watches this process.
 * @param limitMs for which the event loop may stand still
 * @returns reports which test runs now
 */
export function watchEventLoop(limitMs) {
  const watch = new Worker(new URL(import.meta.url), { workerData: { limitMs }, execArgv: [] });
  watch.unref();
  setInterval(() => watch.postMessage(undefined), BEAT_MS).unref();
  return (test) => watch.postMessage(test);
}

if (!isMainThread && workerData?.limitMs !== undefined) {
  const { limitMs } = workerData;
  const limit = Math.ceil(limitMs / BEAT_MS);
  let [test, silentBeats] = ['no test', 0];
  parentPort.on('message', (name = test) => {
    test = name;
    silentBeats = 0;
  });
  // Counted here, so that no time counts in which the whole process was suspended.
  setInterval(() => {
    silentBeats += 1;
    if (silentBeats < limit) return;
    writeSync(2, `\nThe event loop stood still for ${limitMs / 1000} s. Killed in: ${test}\n`);
    process.kill(process.pid, 'SIGKILL');
  }, BEAT_MS);
}
