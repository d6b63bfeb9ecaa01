/**
 * One redemption of points for tokens, as a value; `transition.ts` has its state machine. The value holds everything
 * that a transition depends on, so a worker needs only the row, the clock and the partner's settings.
 */
import { type PartnerId } from '../values/ids.js';
import { type Decimal } from '../values/decimal.js';
import { type Address } from '../values/address.js';
import { type PayoutEvidence, type PayoutTerms } from './payout-evidence.js';
import { type UuidV7 } from './uuid-v7.js';

/** The states, each with what holds in it. */
export const REDEMPTION_STATES = [
  /** No call was sent to the partner, and the terms are frozen. */
  'created',
  /** A deduction may exist from the moment at which `exposure` is `possible`. */
  'deducting',
  /** The points are deducted, and no payout was authorised. */
  'deducted',
  /** The tokens may be paid at any moment. */
  'authorised',
  /** The tokens can never be paid. The points are given back if they were deducted. */
  'reverting',
  /** Final: the tokens are paid and the points deducted. */
  'claimed',
  /** Final: the points are given back and no tokens are paid. */
  'reverted',
  /** Final: no points are deducted and no tokens paid. The partner gets no confirmation. */
  'failed',
  /** Automation has stopped, and points and tokens stay as they are until an operator's command. */
  'attention',
] as const;
export type RedemptionState = (typeof REDEMPTION_STATES)[number];

/** The state of a redemption as users and partners see it. */
export const PUBLIC_STATUSES = ['initial', 'pending', 'claimed', 'reverted', 'failed'] as const;
export type PublicStatus = (typeof PUBLIC_STATUSES)[number];

const PUBLIC: Readonly<Record<RedemptionState, PublicStatus>> = {
  created: 'initial',
  deducting: 'pending',
  deducted: 'pending',
  authorised: 'pending',
  reverting: 'pending',
  attention: 'pending',
  claimed: 'claimed',
  reverted: 'reverted',
  failed: 'failed',
};

export function publicStatus(state: RedemptionState): PublicStatus {
  return PUBLIC[state];
}

/** A redemption in a final state has no transitions, and its row never changes. */
export function isFinal(state: RedemptionState): state is 'claimed' | 'reverted' | 'failed' {
  return state === 'claimed' || state === 'reverted' || state === 'failed';
}

/**
 * The states in which an operator's command can resume the automation. `deducting` is not one of them: an unknown
 * deduction is resolved by a revert, and never paid.
 */
export type ResumableState = 'authorised' | 'reverting';

/** The calls that change the player's points at the partner. */
export type BookingStep = 'deduct' | 'revert';

export type PaidEvidence = Extract<PayoutEvidence, { outcome: 'paid' }>;
/** Proof that the payout can never be made. */
export type DeadEvidence = Extract<PayoutEvidence, { outcome: 'dead' }>;

/** Why the points are given back. The cancellations are also reasons of a redemption that failed before any call. */
export type RevertReason =
  | 'user-cancelled'
  | 'operator-cancelled'
  | 'system-cancelled'
  | 'deduction-unknown'
  | 'payout-unavailable'
  | 'claim-timeout';

/** Why no tokens could be reserved for a redemption. Its points are then not deducted. */
export type ReservationRefusal = 'payout-unavailable' | 'budget-spent';

/** Why a redemption failed, is being reverted, or waits for an operator. */
export type RedemptionReason =
  | RevertReason
  // Reasons of `failed`:
  | ReservationRefusal
  | 'quote-expired'
  | 'partner-unreachable'
  | 'insufficient-points'
  | 'user-not-found'
  | 'never-deducted'
  // Reasons of `attention`:
  | 'transaction-id-reused'
  | 'deduction-unresolved'
  | 'transaction-not-found'
  | 'amount-disputed'
  | 'revert-exhausted'
  | 'payout-unresolved'
  | 'paid-after-dead'
  | 'claimed-without-plan'
  | 'evidence-invalid'
  // After an operator's command in `attention`:
  | 'operator-retried'
  | 'restored-out-of-band'
  | 'not-deducted-out-of-band'
  // In `attention` for good:
  | 'settled-by-hand';

/** A call that was committed before its first byte was sent. While the call is open, its outcome is unknown. */
export interface OpenCall {
  readonly step: BookingStep;
  /** `X-API-REQUEST`, a new one for each attempt. */
  readonly requestId: UuidV7;
  readonly startedAtMs: number;
  /** How a revert identifies the deduction; absent for a deduct call. */
  readonly target?: RevertTarget;
}

/**
 * How a revert identifies the deduction (rule E): by the partner's transaction id, by our redemption id alone, or by a
 * candidate, which is a transaction id from an answer that could not be verified.
 */
export type RevertTarget =
  | { readonly by: 'transaction'; readonly transactionId: string }
  | { readonly by: 'redemption' }
  | { readonly by: 'candidate'; readonly transactionId: string };

/** The terms that are frozen when the redemption is created. */
export interface RedemptionTerms {
  /** Sent to partners as `svcRedemptionId`. */
  readonly id: UuidV7;
  readonly partner: PartnerId;
  readonly wallet: Address;
  /** Above 0 and at most 2^53 - 1, because partners receive a JSON number. */
  readonly points: bigint;
  readonly usdAmount: Decimal;
  /** In the token's smallest unit. */
  readonly tokenAmount: bigint;
  readonly tokenDecimals: number;
  readonly priceUsd: Decimal;
  /** A redemption that is still in `created` at this time fails. */
  readonly quoteExpiresAtMs: number;
}

export interface Redemption extends RedemptionTerms {
  readonly state: RedemptionState;
  /** Incremented by each transition. A row is written only while its stored version is the version that was read. */
  readonly version: number;
  /** Why the redemption is in this state; null in the ordinary course. */
  readonly reason: RedemptionReason | null;
  /** Why the points are given back. In `authorised`: why they would be, should the payout prove dead. */
  readonly revertReason: RevertReason | null;
  /** The state that an operator's retry resumes; set in `attention` always, and nowhere else. */
  readonly resume: ResumableState | null;

  /** Whether a deduction may exist at the partner (rule A). Never reset once a deduction was proven. */
  readonly exposure: 'none' | 'possible';
  /** Number of deduct calls, including an open one, that are not proven to have had no effect (rule D). */
  readonly unprovenAttempts: number;
  readonly openCall: OpenCall | null;
  /** The partner's id of the deduction, verified or given by an operator; unique among the partner's redemptions. */
  readonly partnerTransactionId: string | null;
  readonly partnerRevertId: string | null;
  /** Transaction ids from answers that could not be verified, oldest first. They serve for a revert only (rule B). */
  readonly candidateTransactionIds: readonly string[];
  /** Whether a revert by redemption id found nothing, where this proves nothing; the next option of rule E is due. */
  readonly redemptionIdRefuted: boolean;

  readonly plan: PayoutTerms | null;
  readonly deadEvidence: DeadEvidence | null;
  readonly paidEvidence: PaidEvidence | null;
  /**
   * Set where the ledger was restored from a backup after this redemption was created, so it may lack a voucher:
   * the latest time, in Unix seconds, at which that voucher could be claimed. Null where nothing was lost, and where
   * the plan is older than the loss, because then no other voucher exists.
   */
  readonly lostVoucherUntilSeconds: number | null;

  readonly attempts: { readonly deduct: number; readonly payout: number; readonly revert: number };
  readonly firstDeductAtMs: number | null;
  /**
   * When the newest deduct call was committed. The age at which a late copy of the call is refused counts from here.
   */
  readonly lastDeductAtMs: number | null;
  /** First attempt of the current round of reverts; an operator's retry begins a new round. */
  readonly firstRevertAtMs: number | null;
  readonly firstNotFoundAtMs: number | null;
  /** When a worker takes up the redemption next; null in final states and in `attention`. */
  readonly nextActionAtMs: number | null;

  readonly stateSinceMs: number;
  readonly initialAtMs: number;
  readonly pendingAtMs: number | null;
  readonly deductedAtMs: number | null;
  readonly authorisedAtMs: number | null;
  /** Timestamp of the block with the claim. Never set together with `revertedAtMs`. */
  readonly claimedAtMs: number | null;
  readonly revertedAtMs: number | null;
  readonly failedAtMs: number | null;
}

/** A redemption without any calls, due at once. */
export function newRedemption(terms: RedemptionTerms, nowMs: number): Redemption {
  return {
    ...terms,
    state: 'created',
    version: 1,
    reason: null,
    revertReason: null,
    resume: null,
    exposure: 'none',
    unprovenAttempts: 0,
    openCall: null,
    partnerTransactionId: null,
    partnerRevertId: null,
    candidateTransactionIds: [],
    redemptionIdRefuted: false,
    plan: null,
    deadEvidence: null,
    paidEvidence: null,
    lostVoucherUntilSeconds: null,
    attempts: { deduct: 0, payout: 0, revert: 0 },
    firstDeductAtMs: null,
    lastDeductAtMs: null,
    firstRevertAtMs: null,
    firstNotFoundAtMs: null,
    nextActionAtMs: nowMs,
    stateSinceMs: nowMs,
    initialAtMs: nowMs,
    pendingAtMs: null,
    deductedAtMs: null,
    authorisedAtMs: null,
    claimedAtMs: null,
    revertedAtMs: null,
    failedAtMs: null,
  };
}
