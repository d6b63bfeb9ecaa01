/**
 * Reads an answer as kindly as can be, so that one mistake in its form does not hide how the partner behaves. The form is judged
 * apart, over all answers (`audits/`); what cannot be read at all names the check that says so.
 */
import { isUtf8 } from 'node:buffer';
import { type Came, type Reading, type ReadingFault } from './exchange.js';

export type Fields = Readonly<Record<string, unknown>>;

const FAULTS = {
  'not-sent': 'http-answers',
  broken: 'http-answers',
  timeout: 'http-in-time',
  'too-large': 'http-size',
} as const;

export function readAnswer(came: Came): Reading {
  if (came.kind === 'none') return unreadable(FAULTS[came.fault], came.detail);
  const { status, headers } = came;
  if (status >= 300 && status < 400) {
    return unreadable('http-redirect', `${status} to ${headers['location'] ?? 'nowhere'}`);
  }
  const json = jsonOf(came.body);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (json === undefined && encoding !== 'identity') {
    const why = `the body is compressed (Content-Encoding: ${encoding}), though identity was asked for`;
    return unreadable('http-content-type', why);
  }
  if (json === undefined) {
    const type = headers['content-type'] ?? 'no content type';
    return unreadable('http-json', `status ${status}, ${type}, and the body is not JSON in UTF-8`);
  }
  return readEnvelope(json.value);
}

function readEnvelope(value: unknown): Reading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return unreadable('answer-envelope', 'the body is not a JSON object');
  }
  const fields = value as Fields;
  const { success, errorCode, errorMessage } = fields;
  if (success === true) return { kind: 'success', fields };
  if (success !== false) {
    return unreadable('answer-envelope', `success is ${text(success)}, neither true nor false`);
  }
  if (typeof errorCode !== 'string' || errorCode === '' || errorCode.length > 64) {
    return unreadable('answer-envelope', `success is false and errorCode is ${text(errorCode)}`);
  }
  if (typeof errorMessage !== 'string') {
    const message = `success is false and errorMessage is ${text(errorMessage)}`;
    return unreadable('answer-envelope', message);
  }
  return { kind: 'refusal', code: errorCode, fields };
}

/** The value of the bytes where they are JSON in UTF-8. */
export function jsonOf(body: Uint8Array): { readonly value: unknown } | undefined {
  if (!isUtf8(body)) return undefined;
  try {
    return { value: JSON.parse(Buffer.from(body).toString('utf8')) as unknown };
  } catch {
    // Not JSON; the caller says so.
    return undefined;
  }
}

/** A value for a message, told apart from its neighbours: `"1"` from `1`, missing from null. The report makes it short. */
export function text(value: unknown): string {
  if (value === undefined) return 'missing';
  return JSON.stringify(value);
}

function unreadable(fault: ReadingFault, why: string): Reading {
  return { kind: 'unreadable', fault, why };
}
