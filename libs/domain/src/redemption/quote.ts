import { type Decimal } from '../values/decimal.js';
import { PermanentError } from '../values/errors.js';

/** The rate that a partner and the operator agreed on. */
export interface RedemptionRate {
  readonly usdPerPoint: Decimal;
  /** Bonus from a number of points on; absent where there is none. */
  readonly bonus?: { readonly fromPoints: bigint; readonly rate: Decimal } | undefined;
}

export interface RedemptionAmounts {
  /** points x USD per point, exact. */
  readonly usdAmount: Decimal;
  /** In the token's smallest unit. */
  readonly tokenAmount: bigint;
}

/**
 * usdAmount = points x USD per point; svcAmount = usdAmount / priceSvcUsd x (1 + bonus), floored to the token's
 * decimals. Everything before this floor is exact.
 * @param priceUsd price of one token
 * @throws PermanentError INVALID_QUOTE for points, a rate or a price that are not above 0, or a negative bonus
 */
export function redemptionAmounts(
  points: bigint,
  { usdPerPoint, bonus }: RedemptionRate,
  priceUsd: Decimal,
  tokenDecimals: number,
): RedemptionAmounts {
  const isAgreed = usdPerPoint.digits > 0n && (bonus === undefined || bonus.rate.digits >= 0n);
  if (points <= 0n || priceUsd.digits <= 0n || !isAgreed) {
    throw new PermanentError(
      'INVALID_QUOTE',
      'Points, USD per point and the price must be above 0, and the bonus must not be negative.',
    );
  }
  const usdAmount = { digits: points * usdPerPoint.digits, scale: usdPerPoint.scale };
  const hasBonus = bonus !== undefined && points >= bonus.fromPoints;
  const quote = { rate: { usdPerPoint, bonus }, priceUsd, tokenDecimals };
  const { numerator, denominator } = tokensOfPoint(quote, hasBonus);
  return { usdAmount, tokenAmount: (points * numerator) / denominator };
}

/** Everything that determines the tokens for a number of points. */
export interface RedemptionQuote {
  readonly rate: RedemptionRate;
  readonly priceUsd: Decimal;
  readonly tokenDecimals: number;
}

/** The largest number of points that is worth at most `tokens`, in the smallest unit; 0 where there are no tokens. */
export function pointsWithin(tokens: bigint, quote: RedemptionQuote): bigint {
  if (tokens <= 0n) return 0n;
  const { bonus } = quote.rate;
  const most = (hasBonus: boolean): bigint => {
    const { numerator, denominator } = tokensOfPoint(quote, hasBonus);
    return ((tokens + 1n) * denominator - 1n) / numerator;
  };
  const without = most(false);
  if (bonus === undefined || without < bonus.fromPoints) return without;
  const withBonus = most(true);
  return withBonus >= bonus.fromPoints ? withBonus : bonus.fromPoints - 1n;
}

/** The exact number of tokens for one point, in the smallest unit. */
function tokensOfPoint(
  { rate: { usdPerPoint, bonus }, priceUsd, tokenDecimals }: RedemptionQuote,
  hasBonus: boolean,
): { readonly numerator: bigint; readonly denominator: bigint } {
  const rate: Decimal = hasBonus && bonus ? bonus.rate : { digits: 0n, scale: 0 };
  const one = powerOfTen(rate.scale);
  const scaled = powerOfTen(priceUsd.scale) * powerOfTen(tokenDecimals);
  return {
    numerator: usdPerPoint.digits * (one + rate.digits) * scaled,
    denominator: powerOfTen(usdPerPoint.scale) * priceUsd.digits * one,
  };
}

function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}
