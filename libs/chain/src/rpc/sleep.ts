import { sleep } from '#libs/platform';

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** @throws the reason of `signal` */
export async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, signal);
  signal?.throwIfAborted();
}
