/** An endpoint that asks for more may be well long before: it is tried once a minute. */
const LONGEST_MS = 60_000;

/**
 * Retry-After in either form of RFC 9110 section 10.2.3: seconds, or an HTTP date.
 * @returns milliseconds from `nowMs`, 0 to a minute; undefined where the header is absent or neither form
 */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  const wait = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : httpDate(text) - nowMs;
  return Number.isNaN(wait) ? undefined : Math.min(LONGEST_MS, Math.max(0, Math.ceil(wait)));
}

/** Every form of an HTTP date begins with the day of the week; Date.parse takes far more than dates. */
function httpDate(text: string): number {
  return /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : NaN;
}
