import { retryAfterMs as parse } from '#libs/platform';

/** An endpoint that asks for more may be well long before: it is tried once a minute. */
const LONGEST_MS = 60_000;
/** Some providers write parts of a second. */
const FRACTION = /^\s*\d+\.\d+\s*$/;

/** @returns milliseconds from `nowMs`, 0 to a minute; undefined where the header is absent or neither seconds nor an HTTP date */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (FRACTION.test(header)) return Math.min(LONGEST_MS, Math.ceil(Number(header) * 1000));
  return parse(header, nowMs, LONGEST_MS);
}
