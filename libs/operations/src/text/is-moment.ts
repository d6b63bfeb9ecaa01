/** An RFC 3339 date, or a time with `Z` or an offset. At most microseconds; years that PostgreSQL and `Date` share. */
const MOMENT =
  /^(?!0000)\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-](?:0\d|1[0-4]):\d\d))?$/;

/** Whether the text is a moment that exists, which `Date` parses. `Date` alone accepts the 31st of February. */
export function isMoment(value: unknown): value is string {
  if (typeof value !== 'string' || !MOMENT.test(value) || Number.isNaN(Date.parse(value))) {
    return false;
  }
  const day = value.slice(0, 10);
  return new Date(day).toISOString().startsWith(day);
}
