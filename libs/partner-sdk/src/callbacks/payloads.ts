/** What the four calls carry, as a handler gets it: checked, the wallet and ids in lower case. */
export interface PointsQuery {
  /** `0x` and 40 hex digits in lower case. */
  readonly address: string;
}

export interface Deduction {
  /** `0x` and 40 hex digits in lower case. */
  readonly address: string;
  /** From 1 to 2^53 - 1. */
  readonly deductPoints: number;
  /** A UUID in lower case; it names the deduction, however often the call comes. */
  readonly svcRedemptionId: string;
}

export interface Revert extends Deduction {
  /** Left out where the service never got it: `svcRedemptionId` alone names the deduction. */
  readonly partnerTransactionId?: string;
  readonly revertReason?: string;
}

export interface Confirmation extends Deduction {
  readonly usdAmount: number;
  readonly svcAmount: number;
  readonly priceSvcUsd: number;
  readonly status: 'claimed' | 'reverted';
  readonly txnConfirmed: boolean;
  /** `0x` and 64 hex digits in lower case; there where claimed. */
  readonly txnHash?: string | null;
  /** Times are ISO 8601. */
  readonly initialAt: string;
  readonly pendingAt: string;
  readonly claimedAt: string | null;
  readonly revertedAt: string | null;
}

/** Fields beside these are sent along. */
export interface PointsBalance {
  readonly partnerUserId: string;
  /** 0 to 2^53 - 1, a whole number. */
  readonly points: number;
  /** `abstract`, `ronin`, `ethereum` or a name of your own. */
  readonly chain: string;
  readonly [extra: string]: unknown;
}

export interface DeductionDone {
  /** Unique for each deduction. */
  readonly partnerTransactionId: string;
}

export interface RevertDone {
  /** The deduction's. */
  readonly partnerTransactionId: string;
  /** New, unique for each revert. */
  readonly partnerRevertId: string;
}
