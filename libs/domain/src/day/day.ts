/** A UTC day has exactly this many seconds: Unix time has no leap seconds. */
export const SECONDS_PER_DAY = 86_400;

/** The UTC day a moment belongs to, in days since 1970-01-01: [00:00:00, next 00:00:00). */
export function dayOf(seconds: number): number {
  return Math.floor(seconds / SECONDS_PER_DAY);
}

const DAY = /^(?:19[7-9]\d|[2-9]\d{3})-\d\d-\d\d$/;

/** A day of the calendar from 1970 on, as `2026-11-21`, in days since 1970-01-01 UTC; undefined where the text is none. */
export function parseDay(text: string): number | undefined {
  if (!DAY.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  // Some engines take the 31st of a shorter month for the 1st of the next.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text)) return undefined;
  return ms / 1000 / SECONDS_PER_DAY;
}
