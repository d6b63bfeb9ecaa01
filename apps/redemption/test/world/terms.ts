/** The terms between the partners and the operator of a simulation. */
import { type Decimal, type RedemptionLimits } from '#libs/domain';

export const TOKEN_DECIMALS = 18;
/** One cent per point. */
export const USD_PER_POINT: Decimal = { digits: 1n, scale: 2 };
/** Whole tokens per UTC day: of one partner, and of one wallet. */
export const PARTNER_DAILY_TOKENS: Decimal = { digits: 480n, scale: 0 };
export const WALLET_DAILY_TOKENS: Decimal = { digits: 240n, scale: 0 };

export const LIMITS = {
  paused: false,
  maxOpen: 1,
  priceMaxAgeSeconds: 7200,
  partnerDailyTokens: wholeTokens(PARTNER_DAILY_TOKENS),
  walletDailyTokens: wholeTokens(WALLET_DAILY_TOKENS),
} satisfies RedemptionLimits;

/** In the smallest unit. */
function wholeTokens({ digits }: Decimal): bigint {
  return digits * 10n ** BigInt(TOKEN_DECIMALS);
}
