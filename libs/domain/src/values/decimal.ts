import { PermanentError } from './errors.js';

/** The exact value digits / 10^scale. */
export interface Decimal {
  readonly digits: bigint;
  /** 0 or more. */
  readonly scale: number;
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;
const MAX_LENGTH = 400;

/**
 * Parses a decimal number in the notation of JSON, of PostgreSQL or of a person: `12`, `0.0001`, `-3.50`, `1e-7`. The
 * result is exact, and trailing zeros count in its scale.
 * @throws PermanentError INVALID_DECIMAL for any other text, and for more than 400 characters
 */
export function parseDecimal(text: string): Decimal {
  const match = text.length <= MAX_LENGTH ? DECIMAL.exec(text) : null;
  if (match === null) {
    throw new PermanentError('INVALID_DECIMAL', 'Expected a decimal number such as 0.0001.');
  }
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const magnitude = BigInt(whole + fraction);
  const digits = sign === '-' ? -magnitude : magnitude;
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** @returns -1 where `a` is less than `b`, 0 where both are equal, 1 where `a` is greater */
export function compareDecimals(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const scale = Math.max(a.scale, b.scale);
  const unitsOf = (one: Decimal): bigint => one.digits * 10n ** BigInt(scale - one.scale);
  const difference = unitsOf(a) - unitsOf(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Converts a number of tokens into the smallest unit; a fraction of the unit is cut off. */
export function smallestUnits({ digits, scale }: Decimal, tokenDecimals: number): bigint {
  return (digits * 10n ** BigInt(tokenDecimals)) / 10n ** BigInt(scale);
}

/** Converts an amount in the smallest unit into exact decimal text in tokens, without trailing zeros. */
export function tokensText(amount: bigint, tokenDecimals: number): string {
  if (tokenDecimals === 0) return amount.toString();
  const digits = amount.toString().padStart(tokenDecimals + 1, '0');
  const fraction = digits.slice(-tokenDecimals).replace(/0+$/, '');
  const whole = digits.slice(0, -tokenDecimals);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
