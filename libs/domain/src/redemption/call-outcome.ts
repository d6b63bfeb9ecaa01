/**
 * What is known after a call to a partner. Three outcomes, not two: done, refused, unknown; and, where the transport proves it,
 * not even sent.
 */
import { type Address } from '../chain/address.js';

/** The four calls. */
export const PARTNER_STEPS = ['balance', 'deduct', 'revert', 'confirm'] as const;
export type PartnerStep = (typeof PARTNER_STEPS)[number];

/** The codes of the interface's error envelope. */
export const PARTNER_ERROR_CODES = [
  'ERR-AUTH-FAILED',
  'ERR-USER-NOT-FOUND',
  'ERR-DUPLICATE-REQUEST',
  'ERR-INSUFFICIENT-POINTS',
  'ERR-TRANSACTION-NOT-FOUND',
  'ERR-ALREADY-REVERTED',
  'ERR-INVALID-AMOUNT',
  'ERR-REDEMPTION-NOT-FOUND',
  'ERR-INTERNAL',
] as const;
export type PartnerErrorCode = (typeof PARTNER_ERROR_CODES)[number];

/** What proves that no byte of the request left. */
export type NothingSentReason =
  | 'dns'
  | 'connection-refused'
  | 'not-connected'
  | 'tls'
  | 'blocked-address'
  /** By us: the partner's circuit is open, its calls are too many, or the call came too late. */
  | 'held-back';

/** Why it is not known what the partner did. */
export const UNKNOWN_REASONS = [
  // no whole answer
  'timeout',
  'reset',
  'half-answer',
  'crash',
  'redirect',
  'too-slow',
  'too-large',
  // an answer that says nothing
  'server-error',
  'rate-limited',
  'unexpected-status',
  'no-envelope',
  'malformed-json',
  'success-not-boolean',
  'invalid-answer',
  'error-internal',
  'unknown-code',
  // an answer that is not to be believed
  'signature-missing',
  'signature-wrong',
  'auth-failed',
  'invalid-transaction-id',
] as const;
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];

export interface BalanceAnswer {
  readonly partnerUserId: string;
  readonly address: Address;
  readonly points: bigint;
  readonly chain: string;
}

export interface DeductAnswer {
  readonly partnerTransactionId: string;
}

export interface RevertAnswer {
  readonly partnerTransactionId: string;
  readonly partnerRevertId: string;
}

/** The fields of each step's success. */
export interface PartnerAnswers {
  readonly balance: BalanceAnswer;
  readonly deduct: DeductAnswer;
  readonly revert: RevertAnswer;
  /** Nothing more is required of it. */
  readonly confirm: object;
}

export interface NothingSent {
  readonly kind: 'nothing-sent';
  readonly reason: NothingSentReason;
  /** Until calls to this partner are let through again. */
  readonly retryAfterSeconds?: number;
}

export interface UnknownOutcome {
  readonly kind: 'unknown';
  readonly reason: UnknownReason;
  readonly retryAfterSeconds?: number;
  /** A well-formed transaction id in an answer that could not be verified (rule B). */
  readonly candidateTransactionId?: string;
}

/** The partner's error envelope, as far as it is to be believed. */
export interface RefusedOutcome {
  readonly kind: 'refused';
  readonly code: PartnerErrorCode;
  /** Whether the answer carried a valid signature; only statuses other than 200 may come without. */
  readonly signed: boolean;
  readonly retryAfterSeconds?: number;
  /** Our additive extension: the id of the deduction that was made before, with ERR-DUPLICATE-REQUEST. */
  readonly partnerTransactionId?: string;
}

export interface SucceededOutcome<S extends PartnerStep> {
  readonly kind: 'succeeded';
  readonly answer: PartnerAnswers[S];
}

export type CallOutcome<S extends PartnerStep> =
  NothingSent | UnknownOutcome | RefusedOutcome | SucceededOutcome<S>;
