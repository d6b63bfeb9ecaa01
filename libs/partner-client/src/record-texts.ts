/** The texts of a call's record: bounded, whatever the partner sends, and without secrets. */
import { type AnswerHeaders } from './wire/exchange.js';

export interface Redactor {
  redact(text: string): string;
}

/** Headers of an answer that help to explain it; any other header may hold a session key of the partner. */
const KEPT_HEADERS = [
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'date',
  'location',
  'retry-after',
  'server',
  'via',
  'www-authenticate',
  'x-api-signature',
  'x-request-id',
] as const;
const LONGEST_HEADER = 200;
const LONGEST_EXCERPT = 2048;
const LONGEST_REQUEST = 4096;
const LONGEST_ERROR = 300;

export function keptHeaders(headers: AnswerHeaders, redactor: Redactor): Record<string, string> {
  const kept = KEPT_HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name];
    if (value === undefined) return [];
    const text = typeof value === 'string' ? value : value.join(' | ');
    return [[name, boundedText(text, LONGEST_HEADER, redactor)]];
  });
  return Object.fromEntries(kept);
}

/** @returns undefined where there is no body, or where a text of the partner in it makes it too long for a record */
export function keptRequest(body: string, redactor: Redactor): string | undefined {
  return body === '' || body.length > LONGEST_REQUEST ? undefined : redactor.redact(body);
}

export function clockDifferenceSeconds(
  date: AnswerHeaders[string],
  nowMs: number,
): number | undefined {
  const ms = typeof date === 'string' ? Date.parse(date) : NaN;
  return Number.isNaN(ms) ? undefined : Math.round((ms - nowMs) / 1000);
}

const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu;

/**
 * A partner's text as it may be stored: bounded, in one line, without control characters and without our secrets.
 * @param longest in UTF-16 code units
 */
function boundedText(text: string, longest: number, redactor: Redactor): string {
  // Redacted before the cut, so that no cut goes through a secret.
  const clean = redactor.redact(text).replace(CONTROL, ' ');
  if (clean.length <= longest) return clean;
  // A surrogate pair is not cut in the middle: half a pair cannot be stored.
  return `${clean.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The body as text; bytes that are not UTF-8 become replacement characters. */
export function excerptOf(body: Uint8Array, redactor: Redactor): string {
  return boundedText(new TextDecoder().decode(body), LONGEST_EXCERPT, redactor);
}

export function errorText(error: string, redactor: Redactor): string {
  return boundedText(error, LONGEST_ERROR, redactor);
}
