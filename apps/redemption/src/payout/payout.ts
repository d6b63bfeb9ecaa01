/** A payout on its way: as it is planned, looked for, and handed to its user. */
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
  /** Where the plan may be another one than a restored ledger has forgotten; see Redemption. */
  readonly lostVoucherUntilSeconds?: number | null;
}

/** One whose row bears our MAC: only such a one is signed. */
export interface SealedPayout extends CommittedPayout {
  readonly isSealed: true;
}

/** What was authorised for it; undefined where nothing was. */
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
