import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 10;

interface Patience {
  readonly withinMs?: number;
  /** For the error. Default: the source of the condition. */
  readonly what?: string;
  readonly everyMs?: number;
}

/** Waits for what is to come about. @throws Error where it has not within the time */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  patience: number | Patience = {},
): Promise<void> {
  const given = typeof patience === 'number' ? { withinMs: patience } : patience;
  const { withinMs = 15_000, what = holds.toString(), everyMs = LOOK_EVERY_MS } = given;
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(everyMs);
  }
}
