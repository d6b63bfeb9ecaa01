/** Parsers of settings. The message of an error completes a sentence that begins with the variable's name. */
import { type Decimal, parseDecimal, smallestUnits } from '#libs/domain';

export function tokens(text: string): Decimal {
  if (!/^\d{1,60}(?:\.\d{1,30})?$/.test(text)) throw new Error('must be a decimal, zero or more');
  return parseDecimal(text);
}

/** Whole coins of the chain, in wei. */
export function coins(text: string): bigint {
  return smallestUnits(tokens(text), 18);
}
