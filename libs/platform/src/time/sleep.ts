import { setTimeout as delay } from 'node:timers/promises';

/** Waits; ends early, without an error, when the signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal && { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}
