/**
 * The calls to a partner: what is sent, what a partner is known to do, and what is known after a call. Three outcomes, not two: done,
 * refused, unknown; and, where the transport proves it, not even sent.
 */
import { type Address } from '../chain/address.js';
import { type UuidV7 } from './uuid-v7.js';

export const PARTNER_STEPS = ['balance', 'deduct', 'revert', 'confirm'] as const;
export type PartnerStep = (typeof PARTNER_STEPS)[number];

/** The body of POST /deduct-points-by-address. */
export interface DeductBody {
  readonly address: Address;
  readonly deductPoints: number;
  readonly svcRedemptionId: UuidV7;
}

/** The body of POST /revert-deduct-points. */
export interface RevertBody extends DeductBody {
  /** Left out where the deduction is named by the redemption id alone. */
  readonly partnerTransactionId?: string;
  readonly revertReason: string;
}

/** A call that changes the partner's books. */
export type PartnerRequest =
  | { readonly step: 'deduct'; readonly body: DeductBody }
  | { readonly step: 'revert'; readonly body: RevertBody };

/**
 * What a partner is known to do beyond the interface; recorded per partner, none by default, found by the conformance tester.
 *
 * - `revert-by-redemption-id`: a revert without `partnerTransactionId` reverts the deduction of that `svcRedemptionId`
 * - `tombstones`: a revert that finds nothing makes a later deduct of the same `svcRedemptionId` fail
 * - `enforces-freshness`: a call is refused when its `X-API-REQUEST` is more than 300 s old, so a late copy does nothing
 * - `signs-all-responses`: every answer is signed, whatever its status; an unsigned one is then not the partner's
 * - `refuses-mismatched-pair`: a revert whose transaction id belongs to another `svcRedemptionId` is refused (rule E: a candidate id may
 *   be tried only there)
 */
export const PARTNER_CAPABILITIES = [
  'revert-by-redemption-id',
  'tombstones',
  'enforces-freshness',
  'signs-all-responses',
  'refuses-mismatched-pair',
] as const;
export type PartnerCapability = (typeof PARTNER_CAPABILITIES)[number];

/** The partner's settings that a transition depends on. */
export interface PartnerPolicy {
  readonly capabilities: readonly PartnerCapability[];
  /** Whether the partner has the optional confirmation endpoint (rule H). */
  readonly confirms: boolean;
}

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
  readonly retryAfterSeconds?: number | undefined;
}

export interface UnknownOutcome {
  readonly kind: 'unknown';
  readonly reason: UnknownReason;
  readonly retryAfterSeconds?: number | undefined;
  /** A well-formed transaction id in an answer that could not be verified (rule B). */
  readonly candidateTransactionId?: string | undefined;
}

/** The partner's error envelope, as far as it is to be believed. */
export interface RefusedOutcome {
  readonly kind: 'refused';
  readonly code: PartnerErrorCode;
  /** Whether the answer carried a valid signature; only statuses other than 200 may come without. */
  readonly signed: boolean;
  readonly retryAfterSeconds?: number | undefined;
  /** Our additive extension: the id of the deduction that was made before, with ERR-DUPLICATE-REQUEST. */
  readonly partnerTransactionId?: string | undefined;
}

export interface SucceededOutcome<S extends PartnerStep> {
  readonly kind: 'succeeded';
  readonly answer: PartnerAnswers[S];
}

export type CallOutcome<S extends PartnerStep> =
  NothingSent | UnknownOutcome | RefusedOutcome | SucceededOutcome<S>;
