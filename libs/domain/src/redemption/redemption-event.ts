/** The events of a redemption. Each event says what was learnt, and never what to do. */
import { type UnknownReason } from './partner-call.js';
import { type PayoutEvidence, type PayoutTerms } from './payout-evidence.js';
import { type DeadEvidence, type PaidEvidence, type ReservationRefusal } from './redemption.js';
import { type UuidV7 } from './uuid-v7.js';

/** The result of the call that was committed under `requestId`. */
interface CallResult {
  readonly requestId: UuidV7;
}

/** The refusals of a deduction that prove, if nothing else is unproven, that no points were taken. */
export type DeductRefusalCode = 'ERR-INSUFFICIENT-POINTS' | 'ERR-USER-NOT-FOUND';

interface EventFields {
  /** The next call to the partner is due. `requestId` was minted for this call. */
  'call-due': {
    readonly requestId: UuidV7;
    /** The vault's statement that it never pays the redemption. No revert call is made without this statement. */
    readonly neverPaid?: DeadEvidence;
  };

  /** The partner's signed balance shows that the deduction would be refused. No deduct call was made. */
  'balance-refused': { readonly code: DeductRefusalCode };
  /** Whether the player has the points could not be learnt, so no deduct call was made. */
  'balance-unknown': {
    /** Absent where no byte was sent. */
    readonly reason?: UnknownReason;
    readonly retryAfterSeconds?: number | undefined;
  };

  /** The row does not bear a valid MAC: the service did not write it, or it was altered later. */
  'evidence-rejected': object;

  /** A verified success, or a signed ERR-DUPLICATE-REQUEST that names the deduction. No other redemption has the id. */
  'deduct-confirmed': CallResult & { readonly partnerTransactionId: string };
  /** As `deduct-confirmed`, but another redemption already has the id. */
  'deduct-id-reused': CallResult;
  'deduct-refused': CallResult & {
    readonly code: DeductRefusalCode;
    readonly retryAfterSeconds?: number | undefined;
  };
  /** The partner has processed this redemption id before, and gave no transaction id. */
  'deduct-duplicate': CallResult;
  'deduct-unknown': CallResult & {
    readonly reason: UnknownReason;
    readonly retryAfterSeconds?: number | undefined;
    readonly candidateTransactionId?: string | undefined;
  };
  'deduct-not-sent': CallResult & {
    readonly retryAfterSeconds?: number | undefined;
  };

  /** Commits a payout plan, which is frozen before the signer is asked. */
  'plan-committed': { readonly plan: PayoutTerms };
  'plan-failed': object;

  /** As far as could be read, the payout is neither made nor proven dead. */
  'payout-live': {
    /** Milliseconds until the chain can be expected to say more. */
    readonly recheckMs: number;
    /** Describes facts that cannot all be true. */
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

  /**
   * By the user, an operator or a timer of the service. `because` is for a redemption in `created` whose tokens could
   * not be reserved.
   */
  cancel: {
    readonly by: 'user' | 'operator' | 'system';
    readonly because?: ReservationRefusal;
  };

  'operator-retry': object;
  /** The partner gave the operator the transaction id of the deduction. */
  'operator-set-transaction': { readonly partnerTransactionId: string };
  /** The partner gave the points back by hand. */
  'operator-restored': object;
  /** The partner searched its records and found that nothing was deducted. */
  'operator-not-deducted': object;
  /** Points and tokens are both gone, and the operator and the partner settled the consequences by hand. */
  'operator-settled': object;
}

export type RedemptionEventType = keyof EventFields;
export type EventOf<T extends RedemptionEventType> = {
  [K in T]: { readonly type: K } & EventFields[K];
}[T];
export type RedemptionEvent = EventOf<RedemptionEventType>;

/**
 * The event for the evidence about the payout of a redemption.
 * @param recheckMs milliseconds until the chain can be expected to say more
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
