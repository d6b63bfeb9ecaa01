/**
 * The calls to a partner: requests, capabilities and outcomes. A call has three outcomes, not two: done, refused,
 * unknown. Where the transport proves that no byte was sent, the outcome is `nothing-sent`.
 */
import { ERROR_CODES, type ErrorCode, STEPS } from '#libs/partner-sdk/answers';
import { type Address } from '../values/address.js';
import { type UuidV7 } from './uuid-v7.js';

export const PARTNER_STEPS = STEPS;
export type PartnerStep = (typeof PARTNER_STEPS)[number];

/** The body of POST /deduct-points-by-address. */
export interface DeductBody {
  readonly address: Address;
  readonly deductPoints: number;
  readonly svcRedemptionId: UuidV7;
}

/** The body of POST /revert-deduct-points. */
export interface RevertBody extends DeductBody {
  /** Absent where the redemption id alone identifies the deduction. */
  readonly partnerTransactionId?: string;
  readonly revertReason: string;
}

/** A call that changes the player's points at the partner. */
export type PartnerRequest =
  | { readonly step: 'deduct'; readonly body: DeductBody }
  | { readonly step: 'revert'; readonly body: RevertBody };

/**
 * What a partner is known to do beyond the interface. Recorded for each partner, none by default; the conformance
 * tester finds them.
 *
 * - `revert-by-redemption-id`: a revert without `partnerTransactionId` reverts the deduction of that `svcRedemptionId`
 * - `tombstones`: a revert that finds nothing makes a later deduct call with the same `svcRedemptionId` fail
 * - `enforces-freshness`: a call is refused when its `X-API-REQUEST` is more than 300 s old, so a late copy has no
 *   effect
 * - `signs-all-responses`: every answer is signed, whatever its status. This changes no judgement: an unsigned refusal
 *   settles nothing, of any partner. The redemptions of a partner without it wait for an operator after a refusal
 * - `refuses-mismatched-pair`: a revert whose transaction id belongs to another `svcRedemptionId` is refused. Only with
 *   this capability a candidate id may be tried (rule E)
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
export const PARTNER_ERROR_CODES = ERROR_CODES;
export type PartnerErrorCode = ErrorCode;

/** Proofs that no byte of the request was sent. */
export type NothingSentReason =
  | 'dns'
  | 'connection-refused'
  | 'not-connected'
  | 'tls'
  | 'blocked-address'
  /** By this service: the partner's circuit is open, the partner has too many calls, or the call came too late. */
  | 'held-back';

/** Why the effect of a call at the partner is unknown. */
export const UNKNOWN_REASONS = [
  // No complete answer:
  'timeout',
  'reset',
  'half-answer',
  'crash',
  'redirect',
  'too-slow',
  'too-large',
  // An answer without information:
  'server-error',
  'rate-limited',
  'unexpected-status',
  'no-envelope',
  'malformed-json',
  'success-not-boolean',
  'invalid-answer',
  'error-internal',
  'unknown-code',
  // An answer that cannot be believed:
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

export interface PartnerAnswers {
  readonly balance: BalanceAnswer;
  readonly deduct: DeductAnswer;
  readonly revert: RevertAnswer;
  /** No further fields are required. */
  readonly confirm: object;
}

export interface NothingSent {
  readonly kind: 'nothing-sent';
  readonly reason: NothingSentReason;
  /** Seconds until calls to this partner are let through again. */
  readonly retryAfterSeconds?: number | undefined;
}

export interface UnknownOutcome {
  readonly kind: 'unknown';
  readonly reason: UnknownReason;
  readonly retryAfterSeconds?: number | undefined;
  /** A well-formed transaction id in an answer that could not be verified (rule B). */
  readonly candidateTransactionId?: string | undefined;
}

/** The partner's error envelope, signed for this call. Only the answer to a confirmation may lack the signature. */
export interface RefusedOutcome {
  readonly kind: 'refused';
  readonly code: PartnerErrorCode;
  readonly retryAfterSeconds?: number | undefined;
  /** Our extension of the interface, with ERR-DUPLICATE-REQUEST: the transaction id of the earlier deduction. */
  readonly partnerTransactionId?: string | undefined;
}

export interface SucceededOutcome<S extends PartnerStep> {
  readonly kind: 'succeeded';
  readonly answer: PartnerAnswers[S];
}

export type CallOutcome<S extends PartnerStep> =
  NothingSent | UnknownOutcome | RefusedOutcome | SucceededOutcome<S>;
