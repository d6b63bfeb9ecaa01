import { type Exchange, type Step } from '../wire/exchange.js';

/** A call and its answer, as the report shows them. */
export interface ReportedExchange {
  readonly step: Step;
  readonly purpose: string;
  readonly sent: {
    readonly method: string;
    /** Path and query. */
    readonly target: string;
    /** The value of `x-api-key` is never shown. */
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  /** `status` is null where no answer came; `fault` then says why. */
  readonly came: {
    readonly status: number | null;
    readonly headers: Readonly<Record<string, string>>;
    /** Long bodies are cut. */
    readonly body: string;
    readonly fault: string | null;
    readonly signature: Exchange['signature'];
    readonly durationMs: number;
  };
}

/** Headers of an answer that help a reader; the others are left out. */
const SHOWN_HEADERS = [
  'content-type',
  'content-encoding',
  'content-length',
  'date',
  'location',
  'retry-after',
  'server',
  'x-api-signature',
];

export function reportExchange({
  step,
  purpose,
  sent,
  came,
  signature,
}: Exchange): ReportedExchange {
  const { method, target, body } = sent;
  const headers = { ...sent.headers };
  if (headers['x-api-key'] !== undefined) headers['x-api-key'] = '(not shown)';
  const answer =
    came.kind === 'none'
      ? { status: null, headers: {}, body: '', fault: `${came.fault}: ${came.detail}` }
      : {
          status: came.status,
          headers: shownOf(came.headers),
          body: came.body.toString('utf8'),
          fault: null,
        };
  const { durationMs } = came;
  return {
    step,
    purpose,
    sent: { method, target, headers, body },
    came: { ...answer, signature, durationMs },
  };
}

function shownOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(shown);
}

/**
 * Removes the key and the secret from every text of a report, since a partner may send them back in an error. Long
 * texts are cut only after that, since half of a secret would not be found.
 */

interface Secrets {
  readonly apiKey: string;
  readonly sharedSecret: string;
}

/** Shorter secrets are not searched for, since they would match everywhere. */
const MIN_LENGTH = 6;
/** Limit of one text, in characters. */
const MAX_CHARACTERS = 2000;

export function scrubber(secrets: Secrets): <T>(value: T) => T {
  const words: [string, string][] = [
    ...formsOf(secrets.sharedSecret).map((form): [string, string] => [form, '(shared secret)']),
    ...formsOf(secrets.apiKey).map((form): [string, string] => [form, '(API key)']),
  ];
  const scrubText = (text: string): string =>
    cut(words.reduce((scrubbed, [word, name]) => scrubbed.replaceAll(word, name), text));
  const scrub = (value: unknown): unknown => {
    if (typeof value === 'string') return scrubText(value);
    if (Array.isArray(value)) return value.map(scrub);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, scrub(member)]));
  };
  return <T>(value: T): T => scrub(value) as T;
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

/** The secret itself, and its forms in JSON, URLs, base64 and hex; longest first. */
function formsOf(secret: string): string[] {
  if (secret.length < MIN_LENGTH) return [];
  const bytes = Buffer.from(secret, 'utf8');
  const forms = [
    secret,
    secret.trim(),
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(bytes.toString('utf8')),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}
