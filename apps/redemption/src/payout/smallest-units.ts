import { type Decimal } from '#libs/domain';

/** Whole tokens in the smallest unit, floored. */
export function smallestUnits({ digits, scale }: Decimal, tokenDecimals: number): bigint {
  return (digits * 10n ** BigInt(tokenDecimals)) / 10n ** BigInt(scale);
}
