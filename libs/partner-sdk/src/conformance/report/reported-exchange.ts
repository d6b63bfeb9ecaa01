import { type Exchange, type Step } from '../wire/exchange.js';

/** One call and its answer. */
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
