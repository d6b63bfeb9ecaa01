import { Text } from '@mantine/core';
import { serverNowMs } from '../api/server-clock';
import { formatMoment, formatTime, formatUtc } from '../format/time';
import { useTexts } from '../texts/texts-context';
import { Fragment } from 'react';

interface WhenProps {
  /** ISO 8601. */
  readonly at: string | null | undefined;
  /** Text where there is no time. */
  readonly none?: string;
  /** Shows minutes, without the date where it is today; the title is in UTC. */
  readonly isShort?: boolean;
  /** Shows milliseconds in UTC, to find the time in a log. */
  readonly isExact?: boolean;
}

/** A time in the reader's time zone, with UTC beside it. */
export function When({ at, none = '–', isShort = false, isExact = false }: WhenProps) {
  const { locale } = useTexts();
  if (at === null || at === undefined) return <>{none}</>;
  if (isShort) {
    return (
      <time dateTime={at} title={formatUtc(at)}>
        {formatTime(at, locale, serverNowMs())}
      </time>
    );
  }
  return (
    <time dateTime={at}>
      <span className="together">{formatMoment(at, locale)}</span>{' '}
      <Text span size="xs" c="dimmed" className="together">
        {isExact ? `${at.slice(0, 23).replace('T', ' ')} UTC` : formatUtc(at)}
      </Text>
    </time>
  );
}

/** A UTC day such as `2026-03-01`, marked as UTC. */
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

/** A duration in its two largest units: `3 h 5 min`. */
export function spanText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [days, hours] = [Math.floor(whole / 86_400), Math.floor(whole / 3600) % 24];
  const [minutes, rest] = [Math.floor(whole / 60) % 60, whole % 60];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}

const TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)/;

/** A sentence of the server, whose ISO 8601 times are shown as `When` shows them. */
export function WithTimes({ text }: { readonly text: string }) {
  return text.split(TIME).map((part, place) => (
    // The parts of a text have no key but their index.
    <Fragment key={place}>{isTime(part) ? <When at={part} /> : part}</Fragment>
  ));
}

function isTime(part: string): boolean {
  return TIME.test(part) && !Number.isNaN(Date.parse(part));
}
