/** Moments, durations, amounts and foreign text in the form that operators read, on a page or in a terminal. */
import { decimalText } from '#libs/db';

/**
 * Control, invisible and direction characters and lone surrogates: these can move the cursor, hide text or fake a line.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Makes foreign text safe for a terminal: in one line, with unprintable characters written as escapes. */
export function printable(text: string): string {
  return text.replace(
    UNPRINTABLE,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Whether a text for other readers has something to read, and no character that hides or turns the text beside it. */
export function isPlainLine(text: string): boolean {
  return text.trim() !== '' && !/[\p{C}\u2028\u2029]/u.test(text);
}

/** A moment in UTC, to the millisecond. */
export function moment(at: Date | number | null): string | undefined {
  return at === null ? undefined : new Date(at).toISOString();
}

/** A duration in its two largest units. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24];
  const [minutes, rest] = [Math.floor(seconds / 60) % 60, seconds % 60];
  if (days > 0) return `${days}d ${hours}h`;
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${rest}s` : `${rest}s`;
}

/** A time relative to now: `in 5m 0s`, or `12s ago`. */
export function fromNow(atMs: number, nowMs: number): string {
  return atMs > nowMs ? `in ${duration(atMs - nowMs)}` : `${duration(nowMs - atMs)} ago`;
}

/** A due time relative to now: `in 5m 0s`, or `now, 12s late`. */
export function due(atMs: number, nowMs: number): string {
  const lateMs = nowMs - atMs;
  if (lateMs < 0) return fromNow(atMs, nowMs);
  return lateMs < 1000 ? 'now' : `now, ${duration(lateMs)} late`;
}

/** A count with its noun: `1 attempt`, `2 attempts`. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

interface TokenAmount {
  /** In the token's smallest unit. */
  readonly tokenAmount: bigint;
  readonly tokenDecimals: number;
}

/** All digits, without trailing zeros. */
export function tokensText({ tokenAmount, tokenDecimals }: TokenAmount): string {
  const text = decimalText({ digits: tokenAmount, scale: tokenDecimals });
  return tokenDecimals === 0 ? text : text.replace(/\.?0+$/, '');
}
