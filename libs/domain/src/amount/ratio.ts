import { type Decimal } from './decimal.js';

/** Exact fractions, and the one place where they become a floating-point number. */
export interface Ratio {
  readonly numerator: bigint;
  /** Above 0. */
  readonly denominator: bigint;
}

const SIGNIFICAND_BITS = 53;
/** Exponent of the smallest positive double. */
const MIN_EXPONENT = -1074;

/**
 * The double nearest to numerator / denominator, rounded once, half to even (IEEE 754): correct for subnormals, and for what
 * is too large an infinity, which canonical JSON refuses.
 * @throws RangeError where the denominator is not above 0
 */
export function ratioToNumber(numerator: bigint, denominator: bigint): number {
  if (denominator <= 0n) throw new RangeError('The denominator must be above 0.');
  if (numerator < 0n) return -ratioToNumber(-numerator, denominator);
  if (numerator === 0n) return 0;
  const [a, b] = [Number(numerator), Number(denominator)];
  // One division of two exact doubles rounds once.
  if (isExactly(a, numerator) && isExactly(b, denominator)) return a / b;

  let exponent = bitLength(numerator) - bitLength(denominator);
  if (compareScaled(numerator, denominator, exponent) < 0) exponent--;
  // Now 2^exponent <= ratio < 2^(exponent + 1); the result is a whole number of units in the last place.
  const unit = Math.max(exponent - SIGNIFICAND_BITS + 1, MIN_EXPONENT);
  const [top, bottom] =
    unit >= 0
      ? [numerator, denominator << BigInt(unit)]
      : [numerator << BigInt(-unit), denominator];
  const units = top / bottom;
  const twiceRest = (top % bottom) * 2n;
  const up = twiceRest > bottom || (twiceRest === bottom && units % 2n === 1n);
  return Number(up ? units + 1n : units) * 2 ** unit;
}

function isExactly(value: number, whole: bigint): boolean {
  return Number.isFinite(value) && BigInt(value) === whole;
}

/** The sign of numerator - denominator x 2^exponent. */
function compareScaled(numerator: bigint, denominator: bigint, exponent: number): number {
  const [left, right] =
    exponent >= 0
      ? [numerator, denominator << BigInt(exponent)]
      : [numerator << BigInt(-exponent), denominator];
  return left < right ? -1 : left > right ? 1 : 0;
}

function bitLength(value: bigint): number {
  const hex = value.toString(16);
  return hex.length * 4 - Math.clz32(parseInt(hex.charAt(0), 16)) + 28;
}

/** An amount in the token's smallest unit as a number of tokens, rounded once: V8 reads decimal digits exactly, however many. */
export function tokensToNumber(amount: bigint, decimals: number): number {
  return Number(`${amount}e-${decimals}`);
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
