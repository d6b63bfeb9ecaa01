/**
 * The call log's record of one call: what was asked, how far it came, what came back, how long it took. Bounded whatever the
 * partner sends, plain JSON, and without a secret: the request's key and signature are not in it, and what the partner says is
 * redacted before it is cut.
 */
import { type PartnerStep } from '#libs/domain';
import { boundedText, excerptOf } from './answer/excerpt.js';
import { type NoAnswerCause, type NothingSentCause, type Phase, type Verdict } from './call-end.js';
import { ROUTES } from './partner-call.js';
import { type PartnerEndpoint } from './partner-endpoint.js';
import { type AnswerHeaders } from './wire/exchange.js';

export interface CallTimings {
  /** Waiting for the partner's other calls; the deadline does not run yet. Whole milliseconds, as are all. */
  readonly queued: number;
  readonly dns?: number;
  readonly connect?: number;
  readonly tls?: number;
  /** From the request to the end of the answer's head. */
  readonly head?: number;
  /** From the end of the queue to the end of the call. */
  readonly total: number;
}

export interface CallRecord {
  readonly partnerId: string;
  readonly step: PartnerStep;
  /** `X-API-REQUEST`; absent where the call was held back before it had one. */
  readonly requestId?: string;
  readonly method: string;
  /** The partner's; absent where the base URL is not one. */
  readonly origin?: string;
  /** What was signed; without the query. */
  readonly path: string;
  /** When it began, Unix milliseconds. */
  readonly startedAtMs: number;
  readonly phase: Phase;
  readonly outcome: 'nothing-sent' | 'no-answer' | 'answer';
  readonly cause?: NothingSentCause | NoAnswerCause;
  readonly verdict?: Verdict;
  readonly alert: boolean;
  readonly status?: number;
  readonly timings: CallTimings;
  /** Bytes of the bodies; what came, not what was kept. */
  readonly requestBytes: number;
  readonly answerBytes: number;
  /** Who answered. */
  readonly remoteAddress?: string;
  /** Over a connection that had served a call before. */
  readonly kept?: true;
  /** Partner's `Date` minus our time, in whole seconds: the first thing to look at where the partner refuses our signature. */
  readonly clockDifferenceSeconds?: number;
  readonly answerHeaders: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly excerpt: string;
  /** What the system or the library said of a failure. */
  readonly error?: string;
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
const LONGEST_ERROR = 300;

type AlwaysThere =
  | 'step'
  | 'path'
  | 'startedAtMs'
  | 'phase'
  | 'outcome'
  | 'alert'
  | 'timings'
  | 'requestBytes'
  | 'answerBytes';

/** What a record is made of. */
export interface CallFacts extends Pick<CallRecord, AlwaysThere> {
  readonly requestId: string | undefined;
  readonly origin: string | undefined;
  readonly cause?: NothingSentCause | NoAnswerCause | undefined;
  readonly verdict?: Verdict | undefined;
  readonly status?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly kept?: true | undefined;
  readonly headers: AnswerHeaders;
  readonly body: Uint8Array;
  readonly error?: string | undefined;
  readonly receivedAtMs: number;
}

export function callRecord(facts: CallFacts, endpoint: PartnerEndpoint): CallRecord {
  const { headers, body, receivedAtMs, error, ...rest } = facts;
  const record = {
    ...rest,
    partnerId: endpoint.partnerId,
    method: ROUTES[facts.step].method,
    clockDifferenceSeconds: clockDifferenceSeconds(headers['date'], receivedAtMs),
    answerHeaders: Object.fromEntries(keptHeaders(headers, endpoint)),
    excerpt: excerptOf(body, LONGEST_EXCERPT, endpoint),
    error: error === undefined ? undefined : boundedText(error, LONGEST_ERROR, endpoint),
  };
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined),
  ) as unknown as CallRecord;
}

function* keptHeaders(
  headers: AnswerHeaders,
  endpoint: PartnerEndpoint,
): Generator<[string, string]> {
  for (const name of KEPT_HEADERS) {
    const value = headers[name];
    if (value === undefined) continue;
    const text = typeof value === 'string' ? value : value.join(' | ');
    yield [name, boundedText(text, LONGEST_HEADER, endpoint)];
  }
}

function clockDifferenceSeconds(date: AnswerHeaders[string], nowMs: number): number | undefined {
  const ms = typeof date === 'string' ? Date.parse(date) : NaN;
  return Number.isNaN(ms) ? undefined : Math.round((ms - nowMs) / 1000);
}
