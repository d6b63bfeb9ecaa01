import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 10;

/** Waits for what is to come about. @throws Error where it has not within the time */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  withinMs = 15_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline)
      throw new Error(`not within ${withinMs} ms: ${holds.toString()}`);
    await sleep(LOOK_EVERY_MS);
  }
}
