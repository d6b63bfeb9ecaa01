/** What is known when a call has ended. Never thrown: each end of a call is a value, because each of them decides about money. */
import {
  type NoAnswerCause,
  type NothingSentCause,
  type PhaseBeforeSending,
  type PhaseUnderWay,
  type Verdict,
} from './call-end.js';
import { type CallRecord } from './call-record.js';

interface Ended {
  /** Somebody should hear of it. */
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
