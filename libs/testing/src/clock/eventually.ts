import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = { least: 10, most: 100 };

interface Patience {
  readonly withinMs?: number;
  /** For the error. Default: the source of the condition. */
  readonly what?: string;
  /** Default: the longer it has waited the seldomer, as a look may take as much CPU as what it waits for. */
  readonly everyMs?: number;
}

/** Waits for what is to come about. @throws Error where it has not within the time */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  patience: number | Patience = {},
): Promise<void> {
  const given = typeof patience === 'number' ? { withinMs: patience } : patience;
  const { withinMs = 15_000, what = holds.toString(), everyMs } = given;
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
