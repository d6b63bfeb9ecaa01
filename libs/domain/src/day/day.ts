/** A UTC day has exactly this many seconds: Unix time has no leap seconds. */
export const SECONDS_PER_DAY = 86_400;

/** The UTC day a moment belongs to, in days since 1970-01-01: [00:00:00, next 00:00:00). */
export function dayOf(seconds: number): number {
  return Math.floor(seconds / SECONDS_PER_DAY);
}

/** The complete UTC days a snapshot request asks for: [firstDay, endDay), [startSeconds, endSeconds). */
export interface DayWindow {
  readonly firstDay: number;
  /** The day of the request; not part of the window. */
  readonly endDay: number;
  /** Unix seconds, 00:00:00 of the first day. */
  readonly startSeconds: number;
  /** Unix seconds, 00:00:00 of the day of the request. */
  readonly endSeconds: number;
}

/** The last `lastDays` complete UTC days before the day of the request. */
export function windowOf(requestedAtMs: number, lastDays: number): DayWindow {
  const endDay = dayOf(requestedAtMs / 1000);
  const firstDay = endDay - lastDays;
  return {
    firstDay,
    endDay,
    startSeconds: firstDay * SECONDS_PER_DAY,
    endSeconds: endDay * SECONDS_PER_DAY,
  };
}
