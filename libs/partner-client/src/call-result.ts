/**
 * How far a call came and how it ended.
 *
 * The phases are those of one call. Up to `tls` no request exists on the wire; from `sending` on, a byte of it may have
 * left. The structure of the code proves `nothing-sent`: the request is given to HTTP only on an open connection, and
 * every end before that is `nothing-sent`. A kept connection that is lost before a byte of the request was given to it
 * is replaced by another one. After the first byte every failure is an end of this call, and nothing is sent again.
 */
import { type PartnerId, type PartnerStep } from '#libs/domain';
import {
  type Finding,
  type NoAnswerCode,
  type NotSentCode,
  type Reply,
} from '#libs/partner-sdk/answers';

/** In order. A result carries the furthest phase that was reached. */
export const PHASES = [
  // check of the base URL and the address in it
  'address',
  // wait for the partner's circuit and its limit of concurrent calls
  'gate',
  'dns',
  'connect',
  'tls',
  // a byte of the request may have left
  'sending',
  // status line and headers of the final answer arrived
  'head',
  // a byte of the answer's body arrived
  'body',
  // the whole answer arrived
  'done',
] as const;
export type Phase = (typeof PHASES)[number];
export type PhaseBeforeSending = 'address' | 'gate' | 'dns' | 'connect' | 'tls';
export type PhaseUnderWay = 'sending' | 'head' | 'body';

/** The judgement on an answer: the first that applies. */
export type Verdict =
  // compressed, although the request asked for no compression
  | 'encoded'
  // the signature does not verify: for other content, malformed, or more than one
  | 'bad-signature'
  // no signature: it settles nothing, except a confirmation
  | 'unsigned'
  // signed, but with another content type, not UTF-8, not JSON, or nested too deeply
  | 'not-json'
  // JSON that the partner signed for this call
  | 'verified';

export interface CallTimings {
  /** Wait for the partner's other calls, before the deadline starts. All figures are whole milliseconds. */
  readonly queued: number;
  readonly dns?: number;
  readonly connect?: number;
  readonly tls?: number;
  /** From the sending of the request to the end of the answer's head. */
  readonly head?: number;
  /** From the end of the wait to the end of the call. */
  readonly total: number;
}

/**
 * The record of one call in the call log: what was asked, how far the call came, what came back, and how long it took.
 * Plain JSON without secrets: the request's key and signature are left out.
 */
export interface CallRecord {
  readonly partnerId: PartnerId;
  readonly step: PartnerStep;
  /** `X-API-REQUEST`; absent where the call was held back before it had an id. */
  readonly requestId?: string;
  readonly method: string;
  /** Origin of the partner's base URL; absent where that is not a URL we may call. */
  readonly origin?: string;
  /** The path that was signed, without the query. */
  readonly path: string;
  /** Path and query as sent; absent where the call was held back before the request was made. */
  readonly target?: string;
  /** As sent, without what looks like a secret; absent where there is no body or the body is too long for a record. */
  readonly requestBody?: string;
  /** Unix time in milliseconds. */
  readonly startedAtMs: number;
  readonly phase: Phase;
  readonly outcome: 'nothing-sent' | 'no-answer' | 'answer';
  readonly cause?: NotSentCode | NoAnswerCode;
  readonly verdict?: Verdict;
  /** Why the service acts on the answer, or does not; `explain` words it. */
  readonly finding: Finding;
  readonly alert: boolean;
  readonly status?: number;
  readonly timings: CallTimings;
  /** Bytes of the whole body, not of what the record keeps. */
  readonly requestBytes: number;
  /** Bytes of the body that arrived: not of the whole body where the outcome is `no-answer`. */
  readonly answerBytes: number;
  readonly remoteAddress?: string;
  /** True where the connection had served a call before. */
  readonly kept?: true;
  /**
   * The partner's `Date` minus our time, in whole seconds: the first thing to check where the partner refuses our
   * signatures.
   */
  readonly clockDifferenceSeconds?: number;
  readonly answerHeaders: Readonly<Record<string, string>>;
  /** The beginning of the answer's body, in one line. */
  readonly excerpt: string;
  /**
   * Of the bytes of the body that arrived, up to the limit, in hex: shows whether the excerpt is all of them. Absent
   * where no body came.
   */
  readonly answerSha256?: string;
  /** Text of the error, from the system or a library. */
  readonly error?: string;
}

interface Ended {
  readonly alert: boolean;
  readonly record: CallRecord;
}

/** Proof that no byte of the request left. */
export interface NothingSentResult extends Ended {
  readonly kind: 'nothing-sent';
  readonly cause: NotSentCode;
  readonly phase: PhaseBeforeSending;
  /** Seconds until the circuit lets a call through again. */
  readonly retryAfterSeconds?: number;
}

/** What the partner did is unknown. */
export interface NoAnswerResult extends Ended {
  readonly kind: 'no-answer';
  readonly cause: NoAnswerCode;
  readonly phase: PhaseUnderWay;
}

export interface AnswerResult extends Ended {
  readonly kind: 'answer';
  readonly phase: 'done';
  readonly status: number;
  readonly verdict: Verdict;
  /** What was received. Its content proves nothing unless it is believed; see `judgeAnswer`. */
  readonly reply: Reply;
  /** Seconds, at most a day. */
  readonly retryAfterSeconds?: number;
}

export type CallResult = NothingSentResult | NoAnswerResult | AnswerResult;
