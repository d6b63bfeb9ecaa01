/** A UTC day has exactly this many seconds: Unix time has no leap seconds. */
export const SECONDS_PER_DAY = 86_400;

/** The UTC day a moment belongs to, in days since 1970-01-01: [00:00:00, next 00:00:00). */
export function dayOf(seconds: number): number {
  return Math.floor(seconds / SECONDS_PER_DAY);
}
