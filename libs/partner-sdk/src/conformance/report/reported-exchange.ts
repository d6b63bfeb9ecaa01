import { type Exchange, type Step } from '../wire/exchange.js';

export interface ReportedExchange {
  readonly step: Step;
  readonly purpose: string;
  readonly sent: {
    readonly method: string;
    /** Path and query. */
    readonly target: string;
    /** `x-api-key` is never shown. */
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  /** `status` is null where no answer came; then `fault` says why. */
  readonly came: {
    readonly status: number | null;
    readonly headers: Readonly<Record<string, string>>;
    /** Its beginning, where it is long. */
    readonly body: string;
    readonly fault: string | null;
    readonly signature: Exchange['signature'];
    readonly durationMs: number;
  };
}

/** Those that a person looks at; others are left out. */
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
 * Takes the key and the secret out of everything that is shown: a partner may well send them back in an error. Long texts are cut
 * only after that, since half of a secret would not be found.
 */

interface Secrets {
  readonly apiKey: string;
  readonly sharedSecret: string;
}

/** Too short to be looked for: everything would be struck out. */
const MIN_LENGTH = 6;
/** Of any one text. */
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

/** As it is, and as JSON, a URL, base64 and hex would have it; the longest first. */
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
