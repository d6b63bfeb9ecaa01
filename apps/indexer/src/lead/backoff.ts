const FIRST_MS = 250;

/** How long to wait after so many failures in a row: exponential, with jitter over the upper half. */
export function backoffMs(failures: number, maxMs: number, random = Math.random): number {
  const full = Math.min(maxMs, FIRST_MS * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (random() * full) / 2;
}
