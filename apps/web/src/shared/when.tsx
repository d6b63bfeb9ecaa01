import { Text } from '@mantine/core';
import { localeOf } from '../texts/languages';

interface WhenProps {
  /** ISO 8601. */
  readonly at: string | null | undefined;
  /** Shown where there is no time. */
  readonly none?: string;
  /** To the millisecond, in UTC: to find it in a log. */
  readonly isExact?: boolean;
}

/** In English, as are the pages that show them; as it is usual where the browser has a kind of English. */
const viewers = new Intl.DateTimeFormat(localeOf('en'), {
  ...{ dateStyle: 'medium', timeStyle: 'medium' },
});

/** A moment: the viewer's own time, with UTC beside. */
export function When({ at, none = '–', isExact = false }: WhenProps) {
  if (at === null || at === undefined) return <>{none}</>;
  return (
    <time dateTime={at}>
      <span className="together">{viewers.format(new Date(at))}</span>{' '}
      <Text span size="xs" c="dimmed" className="together">
        {isExact ? `${at.slice(0, 23).replace('T', ' ')} UTC` : utcTime(at)}
      </Text>
    </time>
  );
}

/** A UTC day, `2026-03-01`, named as such. */
export function UtcDay({ day }: { readonly day: string }) {
  return (
    <time dateTime={day}>
      {day}{' '}
      <Text span size="xs" c="dimmed">
        UTC
      </Text>
    </time>
  );
}

/** `2026-03-01 14:32:05 UTC` */
export function utcTime(at: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** In its two largest units: `3 h 5 min`. */
export function spanText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [days, hours] = [Math.floor(whole / 86_400), Math.floor(whole / 3600) % 24];
  const [minutes, rest] = [Math.floor(whole / 60) % 60, whole % 60];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}
