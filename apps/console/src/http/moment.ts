import { ValidateBy } from 'class-validator';

/** A day, or a moment in UTC or with its offset, as RFC 3339 has them; to the microsecond, of the years that PostgreSQL and dates share. */
const MOMENT =
  /^(?!0000)\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-](?:0\d|1[0-4]):\d\d))?$/;
const MESSAGE = '$property must be a moment such as 2026-11-23T12:00:00Z.';

/** Whether there is such a moment: the 31st of February is none, to which `Date` is lenient. */
export function isMoment(value: unknown): value is string {
  if (typeof value !== 'string' || !MOMENT.test(value) || Number.isNaN(Date.parse(value))) {
    return false;
  }
  const day = value.slice(0, 10);
  return new Date(day).toISOString().startsWith(day);
}

/** Of a field that `Date` reads afterwards. */
export function IsMoment(): PropertyDecorator {
  return ValidateBy({
    name: 'isMoment',
    validator: { validate: isMoment, defaultMessage: () => MESSAGE },
  });
}
