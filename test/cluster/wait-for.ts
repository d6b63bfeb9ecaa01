import { setTimeout as sleep } from 'node:timers/promises';

/** @throws where it does not come about within the time */
export async function waitFor(
  what: string,
  withinMs: number,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`no ${what} within ${withinMs} ms`);
    await sleep(100);
  }
}
