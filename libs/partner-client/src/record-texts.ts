/** The texts of a call's record: bounded whatever the partner sends, and without a secret. */
import { type AnswerHeaders } from './wire/exchange.js';

/** What takes the secrets out of a text. */
export interface Redactor {
  redact(text: string): string;
}

/** Of the answer's headers those that explain something; the others may be session keys of the partner's. */
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

/** Undefined where there is none, or where a text of the partner's in it makes it longer than a record may be. */
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
 * A partner's text, fit to be kept: bounded, in one line, without control characters, without our secrets.
 * @param longest in UTF-16 code units
 */
function boundedText(text: string, longest: number, redactor: Redactor): string {
  // Redacted before it is cut, so that no cut goes through a secret.
  const clean = redactor.redact(text).replace(CONTROL, ' ');
  if (clean.length <= longest) return clean;
  // A pair of surrogates is not cut in the middle either: half a pair cannot be stored.
  return `${clean.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The body as text, whatever it is; what is no UTF-8 becomes replacement characters. */
export function excerptOf(body: Uint8Array, redactor: Redactor): string {
  return boundedText(new TextDecoder().decode(body), LONGEST_EXCERPT, redactor);
}

export function errorText(error: string, redactor: Redactor): string {
  return boundedText(error, LONGEST_ERROR, redactor);
}
