/** Verifies webhooks, which have the form of Standard Webhooks, and gives their events types. */
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { systemClock } from '../clock.js';
import { EVENT_FIELDS, type Kind, type WebhookEvent } from './events.js';

export type WebhookErrorCode =
  /** webhook-id, webhook-timestamp or webhook-signature is absent, empty, malformed or given twice. */
  | 'HEADERS_INVALID'
  /** The timestamp is more than five minutes from this machine's clock, in either direction. */
  | 'TIMESTAMP_OUT_OF_RANGE'
  /** No signature matches the bytes of the body under any of the secrets. */
  | 'SIGNATURE_INVALID'
  /** The signature is valid, but this version of the SDK does not know the event. */
  | 'EVENT_UNKNOWN'
  /** A mistake on your side: a secret must be `whsec_` and base64. */
  | 'SECRET_INVALID';

/** A webhook that is not accepted. Answer 400, or 2xx for `EVENT_UNKNOWN` where you do not want the event again. */
export class WebhookError extends Error {
  constructor(
    readonly code: WebhookErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'WebhookError';
  }
}

/** The headers of Node's `IncomingMessage` or of a framework that is built on it, or a `Headers` object. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null };

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
/** That of Standard Webhooks, which the library applies before it compares signatures. */
const TOLERANCE_SECONDS = 300;
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/**
 * Verifies a webhook and returns its event.
 * @param rawBody the bytes as received: a body that was parsed and printed again has other bytes
 * @param secret `whsec_…`; several while one secret replaces another
 * @throws WebhookError
 */
export function verifyWebhook(
  headers: WebhookHeaders,
  rawBody: string | Uint8Array,
  secret: string | readonly string[],
): WebhookEvent {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length === 0 || secrets.some((one) => !SECRET.test(one))) {
    throw new WebhookError(
      'SECRET_INVALID',
      'A secret is whsec_ and base64; copy it as it was shown.',
    );
  }
  const given = Object.fromEntries(NAMES.map((name) => [name, headerOf(headers, name)]));
  const body = textOf(rawBody);
  if (!/^\d{1,12}$/.test(given['webhook-timestamp'] ?? '')) {
    throw new WebhookError('HEADERS_INVALID', 'webhook-timestamp is seconds since 1970.');
  }
  if (!secrets.some((one) => isSigned(one, body, given))) {
    throw new WebhookError(
      'SIGNATURE_INVALID',
      'No signature fits: check the secret, and that the body is the bytes that came.',
    );
  }
  return eventOf(given['webhook-id'] ?? '', body);
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '') {
    throw new WebhookError('HEADERS_INVALID', `${name} is absent, or given more than once.`);
  }
  return value;
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}

function textOf(rawBody: string | Uint8Array): string {
  if (typeof rawBody === 'string') return rawBody;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
  } catch {
    throw new WebhookError('SIGNATURE_INVALID', 'The body is no UTF-8: it is not ours.');
  }
}

function isSigned(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) {
      throw new WebhookError('SECRET_INVALID', 'A secret is no base64; copy it as it was shown.');
    }
    if (!isFarFromNow(headers['webhook-timestamp'])) return false;
    throw new WebhookError(
      'TIMESTAMP_OUT_OF_RANGE',
      'It was signed more than five minutes ago or ahead: refuse it, and check your clock.',
    );
  }
}

function isFarFromNow(timestamp = ''): boolean {
  return Math.abs(Math.floor(systemClock.nowMs() / 1000) - Number(timestamp)) > TOLERANCE_SECONDS;
}

function eventOf(id: string, body: string): WebhookEvent {
  const event = jsonOf(body);
  if (isRecord(event) && typeof event['type'] === 'string' && isRecord(event['data'])) {
    const { type, data, timestamp } = event;
    const fields = Object.hasOwn(EVENT_FIELDS, type)
      ? EVENT_FIELDS[type as WebhookEvent['type']]
      : undefined;
    const fits =
      fields !== undefined &&
      typeof timestamp === 'string' &&
      Object.entries(fields).every(([name, kind]) => isOf(kind, data[name]));
    if (fits) return { id, type, timestamp, data } as unknown as WebhookEvent;
  }
  throw new WebhookError(
    'EVENT_UNKNOWN',
    'An event that this version of the SDK does not know: update it, or subscribe to less.',
  );
}

function isOf(kind: Kind, value: unknown): boolean {
  if (kind === 'list') return Array.isArray(value);
  if (kind === 'number') return typeof value === 'number';
  return typeof value === 'string' || (kind === 'text or null' && value === null);
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
