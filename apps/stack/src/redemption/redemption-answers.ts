/** What the redemption service answers, as far as the demonstration looks at it. */

export interface RedemptionAnswer {
  readonly id: string;
  readonly points: number;
  readonly tokens: number;
  readonly priceUsd: number;
  readonly usdAmount: number;
  readonly status: 'initial' | 'pending' | 'claimed' | 'reverted' | 'failed';
  readonly stage: string;
  readonly reason: string | null;
  readonly txnHash: string | null;
  readonly voucher: VoucherAnswer | null;
}

/** What claims the tokens: a transaction with this data to the vault. */
export interface VoucherAnswer {
  readonly vault: string;
  /** Unix seconds; a block of exactly this time still pays. */
  readonly deadline: number;
  readonly calldata: string;
}

export interface SignedInAnswer {
  readonly token: string;
}

export interface PartnersAnswer {
  readonly partners: readonly { readonly name: string }[];
}

export interface PointsAnswer {
  readonly points: number;
}

export interface RedemptionsAnswer {
  readonly redemptions: readonly RedemptionAnswer[];
}

/** Whether nothing changes any more. */
export function isFinal({ status }: RedemptionAnswer): boolean {
  return status !== 'initial' && status !== 'pending';
}
