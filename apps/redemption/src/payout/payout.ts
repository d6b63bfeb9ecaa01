/** The forms of a payout: as it is planned, observed, and handed to its user. */
import { type StoredRedemption } from '#libs/db';
import {
  type Address,
  type PayoutEvidence,
  type PayoutPlace,
  type PayoutTerms,
  type UuidV7,
} from '#libs/domain';

/** A payout whose plan is committed: the tokens may move at any moment. */
export interface CommittedPayout {
  readonly redemptionId: UuidV7;
  readonly plan: PayoutTerms;
  readonly place: PayoutPlace;
  /** Set where a restored ledger may have forgotten another voucher of this redemption; see Redemption. */
  readonly lostVoucherUntilSeconds?: number | null;
}

/** A payout whose row bears our MAC. Vouchers are signed for these only. */
export interface SealedPayout extends CommittedPayout {
  readonly isSealed: true;
}

/** @returns the committed plan with its place; undefined where none was authorised */
export function committedPayout({
  redemption,
  place,
}: StoredRedemption): CommittedPayout | undefined {
  const { plan, id: redemptionId, lostVoucherUntilSeconds } = redemption;
  return plan !== null && place !== null
    ? { redemptionId, plan, place, lostVoucherUntilSeconds }
    : undefined;
}

export interface UnplannedEvidence {
  readonly evidence: PayoutEvidence;
  /** The vault that was searched. */
  readonly place: PayoutPlace;
}

/** What the user needs to be paid. Any account may send the claim; the recipient is paid. */
export interface Voucher {
  readonly chainId: number;
  readonly vault: Address;
  /** The redemption's id in the vault: `0x` and 64 hex digits. */
  readonly vaultRedemptionId: string;
  readonly recipient: Address;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  /** Unix seconds; a block of exactly this time still pays. */
  readonly deadlineSeconds: number;
  /** `0x` and 130 hex digits. */
  readonly signature: string;
  /** The data of the claim transaction to `vault`. */
  readonly calldata: string;
}
