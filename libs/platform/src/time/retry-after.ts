/** Every form of an HTTP date begins with the day of the week and ends with the zone or the year; Date.parse takes far more. */
const HTTP_DATE = /^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? [\w: -]{10,24}( GMT)?$/;

/**
 * `Retry-After` in either form of RFC 9110, section 10.2.3: whole seconds, or an HTTP date.
 * @returns milliseconds from `nowMs`, 0 to `longestMs`; undefined where the text is neither form
 */
export function retryAfterMs(header: string, nowMs: number, longestMs: number): number | undefined {
  const text = header.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : httpDateMs(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(longestMs, Math.max(0, waitMs));
}

/** NaN where the text is no HTTP date. The form of C's asctime names no zone and means UTC. */
function httpDateMs(text: string): number {
  if (!HTTP_DATE.test(text)) return NaN;
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
}
