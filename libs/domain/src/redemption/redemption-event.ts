/** What can happen to a redemption. Each event says what was learnt, never what to do about it. */
import { type UnknownReason } from './partner-call.js';
import { type PayoutEvidence, type PayoutTerms } from './payout-evidence.js';
import { type DeadEvidence, type PaidEvidence, type ReservationRefusal } from './redemption.js';
import { type UuidV7 } from './uuid-v7.js';

/** The result of the call that was committed under `requestId`. */
interface CallResult {
  readonly requestId: UuidV7;
}

interface EventFields {
  /** The next call to the partner is due; `requestId` is minted for it. */
  'call-due': {
    readonly requestId: UuidV7;
    /** What the vault says of a redemption of which the row is no proof; without it, no call gives its points back. */
    readonly neverPaid?: DeadEvidence;
  };

  /** The row does not bear our MAC: it was not written by the service, or was altered since. */
  'evidence-rejected': object;

  /** A verified success, or a signed ERR-DUPLICATE-REQUEST that names the deduction; the id belongs to no other redemption. */
  'deduct-confirmed': CallResult & { readonly partnerTransactionId: string };
  /** The same, but the id belongs to another redemption already. */
  'deduct-id-reused': CallResult;
  'deduct-refused': CallResult & {
    readonly code: 'ERR-INSUFFICIENT-POINTS' | 'ERR-USER-NOT-FOUND';
    readonly retryAfterSeconds?: number | undefined;
  };
  /** The partner has processed this redemption id before, and does not say under which transaction id. */
  'deduct-duplicate': CallResult & { readonly candidateTransactionId?: string | undefined };
  'deduct-unknown': CallResult & {
    readonly reason: UnknownReason;
    readonly retryAfterSeconds?: number | undefined;
    readonly candidateTransactionId?: string | undefined;
  };
  'deduct-not-sent': CallResult & {
    readonly retryAfterSeconds?: number | undefined;
  };

  /** Committing a payout plan: frozen before the signer is asked. */
  'plan-committed': { readonly plan: PayoutTerms };
  /** No plan could be made. */
  'plan-failed': object;

  /** The payout is neither made nor dead, as far as could be read. */
  'payout-live': {
    /** When the chain can be expected to say more. */
    readonly recheckMs: number;
    /** What was read cannot all be true. */
    readonly contradiction?: string | undefined;
  };
  'payout-paid': { readonly redemptionId: UuidV7; readonly evidence: PaidEvidence };
  'payout-dead': { readonly redemptionId: UuidV7; readonly evidence: DeadEvidence };

  'revert-confirmed': CallResult & {
    readonly partnerTransactionId: string;
    readonly partnerRevertId: string;
  };
  'revert-already': CallResult;
  'revert-not-found': CallResult & {
    readonly signed: boolean;
    readonly retryAfterSeconds?: number | undefined;
  };
  'revert-amount-disputed': CallResult;
  'revert-not-sent': CallResult & {
    readonly retryAfterSeconds?: number | undefined;
  };
  'revert-unknown': CallResult & {
    readonly reason: UnknownReason;
    readonly retryAfterSeconds?: number | undefined;
  };

  /** By the user, an operator or a timer of ours; of what has not begun also because its tokens cannot be reserved. */
  cancel: {
    readonly by: 'user' | 'operator' | 'system';
    readonly because?: ReservationRefusal;
  };

  'operator-retry': object;
  /** The partner told the operator the id of the deduction. */
  'operator-set-transaction': { readonly partnerTransactionId: string };
  /** The partner gave the points back by hand. */
  'operator-restored': object;
  /** The partner searched its books: nothing was deducted. */
  'operator-not-deducted': object;
  /** Points and tokens have both gone; what follows from it was settled with the partner by hand. */
  'operator-settled': object;
}

export type RedemptionEventType = keyof EventFields;
export type EventOf<T extends RedemptionEventType> = {
  [K in T]: { readonly type: K } & EventFields[K];
}[T];
export type RedemptionEvent = EventOf<RedemptionEventType>;

/**
 * What the chain's evidence means for the redemption it was gathered for.
 * @param recheckMs when the chain can be expected to say more
 */
export function payoutEvent(
  redemptionId: UuidV7,
  evidence: PayoutEvidence,
  recheckMs: number,
): EventOf<'payout-live' | 'payout-paid' | 'payout-dead'> {
  switch (evidence.outcome) {
    case 'paid':
      return { type: 'payout-paid', redemptionId, evidence };
    case 'dead':
      return { type: 'payout-dead', redemptionId, evidence };
    case 'live':
      return evidence.doubt?.kind === 'contradiction'
        ? { type: 'payout-live', recheckMs, contradiction: evidence.doubt.text }
        : { type: 'payout-live', recheckMs };
  }
}
