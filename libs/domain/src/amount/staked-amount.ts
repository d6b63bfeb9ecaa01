import { type Decimal } from './decimal.js';
import { type Ratio, ratioToNumber } from './ratio.js';

/** An amount in the token's smallest unit as a number of tokens, rounded once. */
export function tokensToNumber(amount: bigint, decimals: number): number {
  return ratioToNumber(amount, 10n ** BigInt(decimals));
}

/**
 * The exact average of daily amounts in token units: their sum / the number of days asked for (rule 3 of the snapshot API).
 * @param amounts in the token's smallest unit
 */
export function averageStaked(
  amounts: readonly bigint[],
  lastDays: number,
  decimals: number,
): Ratio {
  const sum = amounts.reduce((total, amount) => total + amount, 0n);
  return { numerator: sum, denominator: BigInt(lastDays) * 10n ** BigInt(decimals) };
}

/** The exact value of an exact amount: average x rate (rule 4 of the snapshot API). */
export function valueOf(amount: Ratio, rate: Decimal): Ratio {
  return {
    numerator: amount.numerator * rate.digits,
    denominator: amount.denominator * 10n ** BigInt(rate.scale),
  };
}
