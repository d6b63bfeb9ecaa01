/** Verifies what comes to a webhook's address, in the form of Standard Webhooks, and types it. */
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { EVENT_FIELDS, type WebhookEvent } from './events.js';

export type WebhookErrorCode =
  /** webhook-id, webhook-timestamp or webhook-signature is absent or given twice. */
  | 'HEADERS_INVALID'
  /** More than five minutes from this machine's clock. */
  | 'TIMESTAMP_OUT_OF_RANGE'
  /** No signature fits the bytes and one of the secrets. */
  | 'SIGNATURE_INVALID'
  /** Signed, and yet not what this version of the SDK knows. */
  | 'EVENT_UNKNOWN'
  /** Yours to correct: `whsec_` and base64. */
  | 'SECRET_INVALID';

/** Answer 400; 2xx for `EVENT_UNKNOWN` if you do not want it again. */
export class WebhookError extends Error {
  constructor(
    readonly code: WebhookErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'WebhookError';
  }
}

/** Of Node's `IncomingMessage`, of frameworks on it, or `Headers`. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null };

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/**
 * @param rawBody the bytes as they came: a body that was parsed and written again has other bytes
 * @param secret `whsec_…`; several while one replaces another
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
    if (!error.message.includes('timestamp')) return false;
    throw new WebhookError(
      'TIMESTAMP_OUT_OF_RANGE',
      'It was signed more than five minutes ago or ahead: refuse it, and check your clock.',
    );
  }
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

function isOf(kind: 'text' | 'number' | 'text or null', value: unknown): boolean {
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
