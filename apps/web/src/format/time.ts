/** Formats times in the reader's time zone, or in UTC. */

/** Time of day, with the date where it is not today. */
export function formatTime(iso: string, locale: string, nowMs: number, timeZone?: string): string {
  const moment = new Date(iso);
  const zone = timeZone === undefined ? {} : { timeZone };
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...zone });
  const isToday = day.format(moment) === day.format(nowMs);
  return new Intl.DateTimeFormat(locale, {
    ...(!isToday && { dateStyle: 'medium' as const }),
    timeStyle: 'short',
    ...zone,
  }).format(moment);
}

/** Date and time, to the second. */
export function formatMoment(iso: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }).format(
    new Date(iso),
  );
}

/** Formats as `2026-11-23 14:32:05 UTC`. */
export function formatUtc(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Rounds up to the next whole minute, so that a deadline that is shown in minutes is never too early. */
export function upToMinute(iso: string): string {
  return new Date(Math.ceil(Date.parse(iso) / 60_000) * 60_000).toISOString();
}

/** Formats as `4:05` or `1:04:05`; negative times become `0:00`. */
export function formatCountdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [hours, minutes, rest] = [
    Math.floor(seconds / 3600),
    Math.floor((seconds % 3600) / 60),
    String(seconds % 60).padStart(2, '0'),
  ];
  return hours === 0
    ? `${minutes}:${rest}`
    : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`;
}

/** Formats as `in 5 minutes`, in a suitable unit. */
export function formatWait(seconds: number, locale: string): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'always' });
  if (seconds < 90) return format.format(Math.max(1, Math.ceil(seconds)), 'second');
  if (seconds < 5400) return format.format(Math.ceil(seconds / 60), 'minute');
  if (seconds < 129_600) return format.format(Math.ceil(seconds / 3600), 'hour');
  return format.format(Math.ceil(seconds / 86_400), 'day');
}
