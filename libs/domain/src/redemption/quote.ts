import { type Decimal } from '../amount/decimal.js';
import { PermanentError } from '../errors/errors.js';

/** What a partner and the operator agreed. */
export interface RedemptionRate {
  readonly usdPerPoint: Decimal;
  /** More tokens from a number of points on; absent where there is none. */
  readonly bonus?: { readonly fromPoints: bigint; readonly rate: Decimal } | undefined;
}

export interface RedemptionAmounts {
  /** points x USD per point, exact. */
  readonly usdAmount: Decimal;
  /** In the token's smallest unit. */
  readonly tokenAmount: bigint;
}

/**
 * usdAmount = points x USD per point; svcAmount = usdAmount / priceSvcUsd x (1 + bonus), floored to the token's decimals: exact until
 * that one floor.
 * @param priceUsd of one token
 * @throws PermanentError INVALID_QUOTE for points, a rate or a price that are not above 0, or a negative bonus
 */
export function redemptionAmounts(
  points: bigint,
  { usdPerPoint, bonus }: RedemptionRate,
  priceUsd: Decimal,
  tokenDecimals: number,
): RedemptionAmounts {
  const applies = bonus !== undefined && points >= bonus.fromPoints;
  const rate: Decimal = applies ? bonus.rate : { digits: 0n, scale: 0 };
  if (points <= 0n || usdPerPoint.digits <= 0n || priceUsd.digits <= 0n || rate.digits < 0n) {
    throw new PermanentError(
      'INVALID_QUOTE',
      'Points, USD per point and the price must be above 0, and the bonus must not be negative.',
    );
  }
  const usdAmount = { digits: points * usdPerPoint.digits, scale: usdPerPoint.scale };
  const factor = powerOfTen(rate.scale) + rate.digits;
  const numerator =
    usdAmount.digits * powerOfTen(priceUsd.scale) * factor * powerOfTen(tokenDecimals);
  const denominator = powerOfTen(usdAmount.scale) * priceUsd.digits * powerOfTen(rate.scale);
  return { usdAmount, tokenAmount: numerator / denominator };
}

function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}
