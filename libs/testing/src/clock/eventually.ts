import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = { least: 10, most: 100 };

interface Patience {
  readonly withinMs?: number;
  /** Names the condition in the error. Default: its source code. */
  readonly what?: string;
  /**
   * Pause between two checks, in milliseconds. By default it grows with the time waited, since a check may use as much
   * CPU as the awaited work.
   */
  readonly everyMs?: number;
}

/** Waits until a condition holds. @throws Error where it does not hold within the time */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  patience: number | Patience = {},
): Promise<void> {
  const given = typeof patience === 'number' ? { withinMs: patience } : patience;
  const { withinMs = 60_000, what = holds.toString(), everyMs } = given;
  const startedMs = performance.now();
  while (!(await holds())) {
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(everyMs ?? pauseMs(waitedMs));
  }
}

function pauseMs(waitedMs: number): number {
  const { least, most } = LOOK_EVERY_MS;
  return Math.min(Math.max(waitedMs / 20, least), most);
}
