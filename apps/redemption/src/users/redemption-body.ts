import {
  type Decimal,
  isFinal,
  payableUntilSeconds,
  publicStatus,
  ratioToNumber,
  type Redemption,
  tokensToNumber,
} from '#libs/domain';
import { type Voucher } from '../payout/payout-port.js';

/** What the user sees of a redemption; see `docs/wire/redemption.md`. Amounts in whole units are numbers, rounded once. */
export interface RedemptionBody {
  readonly id: string;
  readonly partner: PartnerName;
  readonly wallet: string;
  readonly points: number;
  readonly usdAmount: number;
  readonly tokens: number;
  /** In the token's smallest unit. */
  readonly tokenAmount: string;
  readonly priceUsd: number;
  readonly status: string;
  readonly stage: string;
  readonly reason: string | null;
  readonly cancelRequested: boolean;
  readonly quoteExpiresAt: string;
  readonly initialAt: string;
  readonly pendingAt: string | null;
  readonly deductedAt: string | null;
  readonly authorisedAt: string | null;
  readonly claimedAt: string | null;
  readonly revertedAt: string | null;
  readonly failedAt: string | null;
  /** While it is open, from the voucher on: a later block does not pay. */
  readonly payableUntil: string | null;
  readonly txnHash: string | null;
  readonly voucher: VoucherBody | null;
}

export interface PartnerName {
  readonly id: string;
  readonly name: string;
}

export interface VoucherBody {
  readonly chainId: number;
  readonly vault: string;
  readonly redemptionId: string;
  readonly recipient: string;
  /** In the token's smallest unit. */
  readonly amount: string;
  /** Unix seconds. */
  readonly deadline: number;
  readonly signature: string;
  readonly calldata: string;
}

export function redemptionBody(
  redemption: Redemption,
  partner: PartnerName,
  voucher: Voucher | undefined,
): RedemptionBody {
  const { id, wallet, points, tokenAmount, state } = redemption;
  return {
    id,
    partner,
    wallet,
    points: Number(points),
    usdAmount: decimalToNumber(redemption.usdAmount),
    tokens: tokensToNumber(tokenAmount, redemption.tokenDecimals),
    tokenAmount: tokenAmount.toString(),
    priceUsd: decimalToNumber(redemption.priceUsd),
    status: publicStatus(state),
    stage: state,
    reason: redemption.reason,
    cancelRequested: isCancelRequested(redemption),
    quoteExpiresAt: isoOf(redemption.quoteExpiresAtMs),
    initialAt: isoOf(redemption.initialAtMs),
    pendingAt: isoOrNull(redemption.pendingAtMs),
    deductedAt: isoOrNull(redemption.deductedAtMs),
    authorisedAt: isoOrNull(redemption.authorisedAtMs),
    claimedAt: isoOrNull(redemption.claimedAtMs),
    revertedAt: isoOrNull(redemption.revertedAtMs),
    failedAt: isoOrNull(redemption.failedAtMs),
    payableUntil: isoOrNull(payableUntilMs(redemption)),
    txnHash: redemption.paidEvidence?.transactionHash ?? null,
    voucher: voucher ? voucherBody(voucher) : null,
  };
}

/** Somebody asked for it to be cancelled, whatever came of that. */
export function isCancelRequested({ reason, revertReason }: Redemption): boolean {
  return [reason, revertReason].some((one) => one?.endsWith('-cancelled') === true);
}

function payableUntilMs(redemption: Redemption): number | null {
  if (redemption.plan === null || isFinal(redemption.state)) return null;
  return payableUntilSeconds(redemption) * 1000;
}

export function decimalToNumber({ digits, scale }: Decimal): number {
  return ratioToNumber(digits, 10n ** BigInt(scale));
}

function voucherBody({
  vaultRedemptionId,
  amount,
  deadlineSeconds,
  ...rest
}: Voucher): VoucherBody {
  return {
    chainId: rest.chainId,
    vault: rest.vault,
    redemptionId: vaultRedemptionId,
    recipient: rest.recipient,
    amount: amount.toString(),
    deadline: deadlineSeconds,
    signature: rest.signature,
    calldata: rest.calldata,
  };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : isoOf(ms);
}
