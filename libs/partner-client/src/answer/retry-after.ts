const LONGEST_SECONDS = 86_400;

/** Every form of an HTTP date begins with the day of the week and ends with the zone or the year; Date.parse takes far more. */
const HTTP_DATE = /^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? [\w: -]{10,24}( GMT)?$/;

/**
 * `Retry-After` in either form of RFC 9110, section 10.2.3: whole seconds, or an HTTP date.
 * @returns seconds from `nowMs`, 0 to a day; undefined where the header is absent, repeated or neither form
 */
export function retryAfterSeconds(
  header: string | readonly string[] | undefined,
  nowMs: number,
): number | undefined {
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(LONGEST_SECONDS, Number(text));
  const seconds = HTTP_DATE.test(text) ? Math.ceil((httpDateMs(text) - nowMs) / 1000) : NaN;
  return Number.isNaN(seconds) ? undefined : Math.min(LONGEST_SECONDS, Math.max(0, seconds));
}

/** The form of C's asctime names no zone and means UTC. */
function httpDateMs(text: string): number {
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
}
