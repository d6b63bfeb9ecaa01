/**
 * The seam between a redemption and whatever pays it. Vouchers on a vault are the first way; nothing outside this folder knows
 * about them.
 */
import {
  type Address,
  type Decimal,
  type PayoutEvidence,
  type PayoutTerms,
  type Redemption,
  type UuidV7,
} from '#libs/domain';
import { type PayoutPlace } from '#libs/db';
import { type PayoutRefusal } from './payout-refusal.js';

export const PAYOUT_PORT = Symbol('PayoutPort');

/** A payout whose plan is committed: the tokens may move at any moment. */
export interface CommittedPayout {
  readonly redemptionId: UuidV7;
  readonly plan: PayoutTerms;
  readonly place: PayoutPlace;
  /** Where the plan may be another one than a restored ledger has forgotten; see Redemption. */
  readonly lostVoucherUntilSeconds?: number | null;
}

/** One whose row bears our MAC: only such a one is signed. */
export interface SealedPayout extends CommittedPayout {
  readonly isSealed: true;
}

export type UnplannedRedemption = Pick<
  Redemption,
  'id' | 'wallet' | 'tokenAmount' | 'lostVoucherUntilSeconds'
>;

export interface UnplannedEvidence {
  readonly evidence: PayoutEvidence;
  /** Where it was looked for. */
  readonly place: PayoutPlace;
}

/** What the user needs to be paid; any account may send it, the recipient is paid. */
export interface Voucher {
  readonly chainId: number;
  readonly vault: Address;
  /** The redemption in the vault: `0x` and 64 hex digits. */
  readonly vaultRedemptionId: string;
  readonly recipient: Address;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  /** Unix seconds; a block of exactly this time still pays. */
  readonly deadlineSeconds: number;
  /** `0x` and 130 hex digits. */
  readonly signature: string;
  /** The data of the transaction to `vault` that claims it. */
  readonly calldata: string;
}

export interface PayoutPort {
  /**
   * A plan to be committed; promises nothing yet.
   * @throws LowmarkError where none can be made now
   */
  plan(
    redemption: Pick<Redemption, 'id' | 'wallet' | 'tokenAmount'>,
  ): Promise<{ readonly plan: PayoutTerms; readonly place: PayoutPlace }>;

  /**
   * The evidence about a redemption of which the ledger has no plan: that it was paid, that it never will be, or neither yet. What a
   * restored ledger has forgotten can be claimed until `lostVoucherUntilSeconds`, on whichever vault of the chain the ledger names.
   * @throws LowmarkError where the chain cannot be asked now
   */
  observeUnplanned(redemption: UnplannedRedemption): Promise<UnplannedEvidence>;

  /**
   * Signs what is committed; again gives the same bytes.
   * @throws PermanentError where the plan is of another vault, or EVIDENCE_INVALID where the row does not bear our MAC
   */
  authorise(payout: SealedPayout): Promise<Voucher>;

  /** The evidence about each, in their order; what a restored ledger may have forgotten besides is looked for as well. @throws LowmarkError where the chain cannot be asked now */
  observe(payouts: readonly CommittedPayout[]): Promise<PayoutEvidence[]>;

  /**
   * Has the vault asked to cancel and does not wait; no evidence. Repeating it is harmless.
   * @param usdAmount what the points are worth: for a small sum the vault may not be asked, and the payout expires
   * @throws LowmarkError where it cannot be asked at all
   */
  requestCancel(payout: CommittedPayout, usdAmount: Decimal): void;

  /**
   * Why no payout of this amount could be claimed at the moment; undefined where it could.
   * @param promised tokens of the payouts that are open: what the others can still claim
   */
  refusal(tokenAmount: bigint, promised: bigint): Promise<PayoutRefusal | undefined>;

  /**
   * Tokens that may be promised in all, the open payouts included; 0 where a payout of this amount cannot be begun now, also because
   * nothing is known of the chain.
   */
  room(tokenAmount: bigint): Promise<bigint>;
}
