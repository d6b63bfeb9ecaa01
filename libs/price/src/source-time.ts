import { decimalText } from './json-number.js';

/** A plain number; beyond this it counts milliseconds: in seconds it would be the year 5138. */
const SECONDS_BELOW = 100_000_000_000;
const NUMBER = /^\d{1,16}(?:\.\d{1,9})?$/;
/** ISO 8601 with its zone: without one it could be any of 24 hours. */
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/**
 * When a source says that it found its price: Unix seconds, Unix milliseconds, or ISO 8601 with a zone.
 * @param value as `valueAt` gives it
 * @returns Unix milliseconds; undefined where it is no time
 */
export function sourceTimeMs(value: unknown): number | undefined {
  const text = decimalText(value);
  if (text === undefined) return undefined;
  if (NUMBER.test(text)) {
    const number = Number(text);
    const ms = Math.floor(number < SECONDS_BELOW ? number * 1000 : number);
    return ms > 0 ? ms : undefined;
  }
  const ms = ISO.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
