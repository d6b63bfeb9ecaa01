/**
 * One redemption of points into tokens, as a value. Its states and what leaves them are in `transition.ts`; everything a
 * transition decides by is in here, so that a worker needs the row, the clock and the partner's settings, and nothing else.
 */
import { type Decimal } from '../amount/decimal.js';
import { type Address } from '../chain/address.js';
import { type PayoutEvidence, type PayoutTerms } from './payout-evidence.js';
import { type UuidV7 } from './uuid-v7.js';

/** Each with what is true in it. */
export const REDEMPTION_STATES = [
  /** Nothing was sent; everything about it is frozen. */
  'created',
  /** A deduction may exist as soon as `exposure` is possible. */
  'deducting',
  /** The points are gone; a payout was never authorised. */
  'deducted',
  /** The tokens may move at any moment. */
  'authorised',
  /** The tokens can never move; the points go back, if they were ever gone. */
  'reverting',
  /** Final: tokens paid, points gone. */
  'claimed',
  /** Final: points back, no tokens. */
  'reverted',
  /** Final: no points taken, no tokens; the partner is told nothing. */
  'failed',
  /** Automation has stopped and the money stands as it is: an operator's command only. */
  'attention',
] as const;
export type RedemptionState = (typeof REDEMPTION_STATES)[number];

/** What users and partners see of a redemption's state. */
export type PublicStatus = 'initial' | 'pending' | 'claimed' | 'reverted' | 'failed';

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

/** Nothing leaves a final state, and nothing of its row changes. */
export function isFinal(state: RedemptionState): state is 'claimed' | 'reverted' | 'failed' {
  return state === 'claimed' || state === 'reverted' || state === 'failed';
}

/** Where an operator's command can let the automation go on. Nothing resumes in `deducting`: what is unknown is resolved, never paid. */
export type ResumableState = 'authorised' | 'reverting';

/** The calls to a partner that change its books for this redemption. */
export type BookingStep = 'deduct' | 'revert';

export type PaidEvidence = Extract<PayoutEvidence, { outcome: 'paid' }>;
/** Proof that the payout can never be made. */
export type DeadEvidence = Extract<PayoutEvidence, { outcome: 'dead' }>;

/** Why points go back. The cancellations are also why a redemption failed before anything was sent. */
export type RevertReason =
  | 'user-cancelled'
  | 'operator-cancelled'
  | 'system-cancelled'
  | 'deduction-unknown'
  | 'payout-unavailable'
  | 'claim-timeout';

/** Why tokens could not be reserved for a redemption: its points are not taken. */
export type ReservationRefusal = 'payout-unavailable' | 'budget-spent';

/** Why a redemption failed, is being reverted, or waits for a person. */
export type RedemptionReason =
  | RevertReason
  // failed
  | ReservationRefusal
  | 'quote-expired'
  | 'partner-unreachable'
  | 'insufficient-points'
  | 'user-not-found'
  | 'never-deducted'
  // attention
  | 'transaction-id-reused'
  | 'deduction-unresolved'
  | 'transaction-not-found'
  | 'amount-disputed'
  | 'revert-exhausted'
  | 'payout-unresolved'
  | 'paid-after-dead'
  | 'claimed-without-plan'
  | 'evidence-invalid'
  // out of attention
  | 'operator-retried'
  | 'restored-out-of-band'
  | 'not-deducted-out-of-band'
  // in attention for good
  | 'settled-by-hand';

/** A call that was committed before its first byte; while it stands, its outcome is not known. */
export interface OpenCall {
  readonly step: BookingStep;
  /** `X-API-REQUEST`, another one for each attempt. */
  readonly requestId: UuidV7;
  readonly startedAtMs: number;
  /** What a revert names the deduction by; absent for a deduct. */
  readonly target?: RevertTarget;
}

/**
 * How a revert names the deduction (rule E): by the partner's id for it, by our redemption id alone, or by an id from an answer that
 * could not be verified.
 */
export type RevertTarget =
  | { readonly by: 'transaction'; readonly transactionId: string }
  | { readonly by: 'redemption' }
  | { readonly by: 'candidate'; readonly transactionId: string };

/** What is frozen when the redemption is made. */
export interface RedemptionTerms {
  /** Also `svcRedemptionId`. */
  readonly id: UuidV7;
  /** The partner's id. */
  readonly partner: string;
  readonly wallet: Address;
  /** Above 0, at most 2^53 - 1: it goes out as a JSON number. */
  readonly points: bigint;
  readonly usdAmount: Decimal;
  /** In the token's smallest unit. */
  readonly tokenAmount: bigint;
  readonly tokenDecimals: number;
  readonly priceUsd: Decimal;
  /** From this moment on nothing is started any more. */
  readonly quoteExpiresAtMs: number;
}

export interface Redemption extends RedemptionTerms {
  readonly state: RedemptionState;
  /** Grows by 1 with each transition: the row is written under the version that was read. */
  readonly version: number;
  /** Why it is in this state, where that is not the course of things. */
  readonly reason: RedemptionReason | null;
  /** Why the points go back; from `authorised` on, why they should if the payout turns out dead. */
  readonly revertReason: RevertReason | null;
  /** Only in `attention`, and always there. */
  readonly resume: ResumableState | null;

  /** Whether a deduction may exist at the partner (rule A). Never lowered again once one was proven. */
  readonly exposure: 'none' | 'possible';
  /** Deduct calls, the one under way included, of which nothing proves that they did nothing (rule D). */
  readonly unprovenAttempts: number;
  readonly openCall: OpenCall | null;
  /** The partner's id for the deduction, verified (or given by an operator); unique among the partner's redemptions. */
  readonly partnerTransactionId: string | null;
  readonly partnerRevertId: string | null;
  /** Transaction ids from answers that could not be verified, in the order seen: good for a revert only (rule B). */
  readonly candidateTransactionIds: readonly string[];
  /** A revert by redemption id found nothing, where that proves nothing: the next way of rule E is due. */
  readonly redemptionIdRefuted: boolean;

  readonly plan: PayoutTerms | null;
  readonly deadEvidence: DeadEvidence | null;
  readonly paidEvidence: PaidEvidence | null;
  /**
   * The ledger was restored from a backup after this redemption was made, and what it lacks may be a voucher: one could be claimed until
   * then, in Unix seconds. Null where nothing was lost, and where the plan is older than the loss: there is no other voucher.
   */
  readonly lostVoucherUntilSeconds: number | null;

  readonly attempts: { readonly deduct: number; readonly payout: number; readonly revert: number };
  readonly firstDeductAtMs: number | null;
  /** When the newest deduct call was committed: a late copy of it is refused for age from here on. */
  readonly lastDeductAtMs: number | null;
  /** Of the present round of reverts; an operator's retry begins another one. */
  readonly firstRevertAtMs: number | null;
  readonly firstNotFoundAtMs: number | null;
  /** When a worker should look at it again; null where only a person can. */
  readonly nextActionAtMs: number | null;

  /** When the present state was entered. */
  readonly stateSinceMs: number;
  readonly initialAtMs: number;
  readonly pendingAtMs: number | null;
  readonly deductedAtMs: number | null;
  readonly authorisedAtMs: number | null;
  /** The time of the claim's block. Never together with `revertedAtMs`. */
  readonly claimedAtMs: number | null;
  readonly revertedAtMs: number | null;
  readonly failedAtMs: number | null;
}

/** A redemption of which nothing was sent yet, due at once. */
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
