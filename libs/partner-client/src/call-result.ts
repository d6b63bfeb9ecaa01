/**
 * How far a call came and how it ended.
 *
 * The phases are those of one call. Up to `tls` no request exists on the wire; from `sending` on, a byte of it may have left. So
 * `nothing-sent` is proven by how the code is built: the request is first given to HTTP when a connection stands, and every end before that
 * is `nothing-sent`. A kept connection that turns out lost before a byte of the request was given to it is left for another; from the first
 * byte on, whatever becomes of it is an end of this call, and nothing is sent again.
 */
import { type PartnerStep } from '#libs/domain';

/** In order; a result carries the furthest that was reached. */
export const PHASES = [
  // the base URL and the address in it
  'address',
  // the partner's circuit and its limit of calls at once
  'gate',
  'dns',
  'connect',
  'tls',
  // the request may be on its way
  'sending',
  // status line and headers of the final answer arrived
  'head',
  // a byte of its body arrived
  'body',
  // all of it arrived
  'done',
] as const;
export type Phase = (typeof PHASES)[number];
export type PhaseBeforeSending = 'address' | 'gate' | 'dns' | 'connect' | 'tls';
export type PhaseUnderWay = 'sending' | 'head' | 'body';

/** Why no byte of the request left. */
export type NothingSentCause =
  // we held it back
  | 'circuit-open'
  | 'too-many-calls'
  | 'stale-request-id'
  | 'aborted'
  // the partner's URL, or what its name resolves to, is not one we may call
  | 'invalid-url'
  | 'blocked-address'
  // no connection
  | 'dns'
  | 'connection-refused'
  | 'unreachable'
  | 'connect-timeout'
  | 'tls';

/** Why there is no whole answer although the request, or a part of it, may have arrived. */
export type NoAnswerCause =
  // nothing of an answer came within the deadline
  | 'timeout'
  // its head came, and the rest did not within the deadline
  | 'too-slow'
  | 'reset'
  | 'half-answer'
  | 'too-large'
  | 'not-http'
  | 'aborted';

/** What is to be thought of an answer; the first that applies. */
export type Verdict =
  // compressed although we asked for none
  | 'encoded'
  // a signature that does not verify: of something else, of another form, or more than one
  | 'bad-signature'
  // no signature; with status 200 that is a fault, with another it is allowed
  | 'unsigned'
  // signed; another content type, no UTF-8, no JSON, or JSON nested out of all proportion
  | 'not-json'
  // signed by the partner for this very call, and JSON
  | 'verified';

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

/**
 * The call log's record of one call: what was asked, how far it came, what came back, how long it took. Plain JSON without a secret:
 * the request's key and signature are not in it.
 */
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
  /** Path and query as they went out; absent where the call was held back before it was made. */
  readonly target?: string;
  /** As it went out, without what looks like a secret; absent where there is none. */
  readonly requestBody?: string;
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
  readonly remoteAddress?: string;
  /** Over a connection that had served a call before. */
  readonly kept?: true;
  /** Partner's `Date` minus our time, in whole seconds: the first thing to look at where the partner refuses our signature. */
  readonly clockDifferenceSeconds?: number;
  readonly answerHeaders: Readonly<Record<string, string>>;
  /** The beginning of the body, in one line. */
  readonly excerpt: string;
  /** Of the whole body, in hex: tells whether the excerpt is all of it. Absent where none came. */
  readonly answerSha256?: string;
  /** What the system or the library said of a failure. */
  readonly error?: string;
}

interface Ended {
  readonly alert: boolean;
  readonly record: CallRecord;
}

/** Proof that no byte of the request left. */
export interface NothingSentResult extends Ended {
  readonly kind: 'nothing-sent';
  readonly cause: NothingSentCause;
  readonly phase: PhaseBeforeSending;
  /** Until the circuit lets a call through again. */
  readonly retryAfterSeconds?: number;
}

/** It is unknown what the partner did. */
export interface NoAnswerResult extends Ended {
  readonly kind: 'no-answer';
  readonly cause: NoAnswerCause;
  readonly phase: PhaseUnderWay;
}

interface WholeAnswer extends Ended {
  readonly kind: 'answer';
  readonly phase: 'done';
  readonly status: number;
  readonly contentType?: string;
  /** At most a day. */
  readonly retryAfterSeconds?: number;
}

export interface VerifiedAnswer extends WholeAnswer {
  readonly verdict: 'verified';
  /** Says what the partner says; its form is still to be checked. */
  readonly json: unknown;
}

export interface DoubtfulAnswer extends WholeAnswer {
  readonly verdict: Exclude<Verdict, 'verified'>;
  readonly signature: 'valid' | 'missing' | 'wrong';
  /** What it says, where it is JSON; a ground for nothing but doubt. */
  readonly unverified?: { readonly json: unknown };
}

export type AnswerResult = VerifiedAnswer | DoubtfulAnswer;
export type CallResult = NothingSentResult | NoAnswerResult | AnswerResult;
