/** Seconds of every UTC day, because Unix time has no leap seconds. */
export const SECONDS_PER_DAY = 86_400;

/** The UTC day of a moment, in days since 1970-01-01. A day includes its own 00:00:00 and excludes the next. */
export function dayOf(seconds: number): number {
  return Math.floor(seconds / SECONDS_PER_DAY);
}

const DAY = /^(?:19[7-9]\d|[2-9]\d{3})-\d\d-\d\d$/;

/**
 * Parses a calendar day from 1970 on, such as `2026-11-21`, into days since 1970-01-01 UTC; undefined for any other
 * text.
 */
export function parseDay(text: string): number | undefined {
  if (!DAY.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  // Some engines read a day beyond the end of a month as a day of the next month.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text)) return undefined;
  return ms / 1000 / SECONDS_PER_DAY;
}

/** Formats days since 1970-01-01 UTC as `2026-11-21`. */
export function dayText(day: number): string {
  return new Date(day * SECONDS_PER_DAY * 1000).toISOString().slice(0, 10);
}
