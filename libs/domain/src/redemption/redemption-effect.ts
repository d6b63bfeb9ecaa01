/** What a transition asks of the service. The first group is written in the transition's own transaction, the rest is done after it. */
import { type Address } from '../chain/address.js';
import { type UnknownReason, type NothingSentReason } from './call-outcome.js';
import { type ConfirmationPayload } from './confirmation.js';
import { type PayoutTerms } from './payout-evidence.js';
import { type BookingStep, type RedemptionReason } from './redemption.js';
import { type UuidV7 } from './uuid-v7.js';

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

export type PartnerRequest =
  | { readonly step: 'deduct'; readonly body: DeductBody }
  | { readonly step: 'revert'; readonly body: RevertBody };

export type RedemptionEffect =
  /** In the transaction: the call row of rule A, without which the call must not be made. */
  | { readonly kind: 'record-call'; readonly step: BookingStep; readonly requestId: UuidV7 }
  /** In the transaction: the delivery row of rule H, one in the redemption's life. */
  | { readonly kind: 'record-delivery'; readonly payload: ConfirmationPayload }
  /** After the commit, at most once for each record. */
  | { readonly kind: 'call-partner'; readonly requestId: UuidV7; readonly request: PartnerRequest }
  /** Make a payout plan and commit it. */
  | { readonly kind: 'plan-payout' }
  /** Ask the signer; again gives the same bytes. */
  | { readonly kind: 'authorise-payout'; readonly plan: PayoutTerms }
  | { readonly kind: 'observe-payout' }
  /** Ask the vault to cancel; only a finalised cancellation is evidence. */
  | { readonly kind: 'cancel-payout' }
  | {
      readonly kind: 'alert';
      /** `critical`: the books of two parties may disagree. */
      readonly severity: 'warning' | 'critical';
      readonly code: RedemptionReason | UnknownReason | NothingSentReason | 'contradiction';
      readonly step?: BookingStep;
    }
  /** Wake a worker: there is something to do now. A hint, never needed. */
  | { readonly kind: 'notify' };

/** Why an event changes nothing in this state. */
export type RefusalCode =
  | 'final'
  | 'needs-operator'
  | 'not-in-attention'
  | 'out-of-place'
  | 'call-open'
  | 'stale-call'
  | 'too-late-to-cancel'
  | 'not-yet-cancellable'
  | 'invalid-plan'
  | 'no-evidence'
  | 'not-restorable'
  | 'vault-not-asked'
  | 'ledger-restored'
  | 'invalid-transaction-id'
  | 'transaction-id-known'
  | 'deduction-proven'
  | 'too-fresh'
  | 'contradictory-evidence'
  | 'not-contradictory';

export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  /** For a person. */
  readonly message: string;
}
