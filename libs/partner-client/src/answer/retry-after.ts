import { retryAfterMs } from '#libs/platform';

const LONGEST_MS = 86_400_000;

/** @returns seconds from `nowMs`, 0 to a day; undefined where the header is absent, repeated or neither seconds nor an HTTP date */
export function retryAfterSeconds(
  header: string | readonly string[] | undefined,
  nowMs: number,
): number | undefined {
  if (typeof header !== 'string') return undefined;
  const waitMs = retryAfterMs(header, nowMs, LONGEST_MS);
  return waitMs === undefined ? undefined : Math.ceil(waitMs / 1000);
}
