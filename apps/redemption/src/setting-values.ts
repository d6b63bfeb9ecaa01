/** Parsers of settings. The message of an error completes a sentence that begins with the variable's name. */
import { type Decimal, parseDecimal } from '#libs/domain';

export function tokens(text: string): Decimal {
  if (!/^\d{1,60}(?:\.\d{1,30})?$/.test(text)) throw new Error('must be a decimal, zero or more');
  return parseDecimal(text);
}

/** Parses a decimal into a whole number of the smallest unit. */
export function smallestUnits(decimals: number): (text: string) => bigint {
  return (text) => {
    const { digits, scale } = tokens(text);
    if (scale > decimals) throw new Error(`must have ${decimals} decimals at most`);
    return digits * 10n ** BigInt(decimals - scale);
  };
}
