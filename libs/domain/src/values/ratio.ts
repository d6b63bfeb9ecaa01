import { type Decimal } from './decimal.js';

/** An exact fraction; `ratioToNumber` converts it into a floating-point number. */
export interface Ratio {
  readonly numerator: bigint;
  /** Above 0. */
  readonly denominator: bigint;
}

const SIGNIFICAND_BITS = 53;
/** Exponent of the smallest positive double. */
const MIN_EXPONENT = -1074;
/** A double of fewer units of 2^-1074 is subnormal: it has fewer than 53 bits. */
const NORMAL_UNITS = 1n << 52n;

/**
 * The double nearest to numerator / denominator, rounded once, half to even (IEEE 754). Subnormal results are correct
 * too. A result beyond the range of doubles is an infinity, which canonical JSON refuses.
 * @throws RangeError where the denominator is not above 0
 */
export function ratioToNumber(numerator: bigint, denominator: bigint): number {
  if (denominator <= 0n) throw new RangeError('The denominator must be above 0.');
  if (numerator < 0n) return -ratioToNumber(-numerator, denominator);
  if (numerator === 0n) return 0;
  const exponent = Math.floor(log2(numerator) - log2(denominator));
  if (exponent < MIN_EXPONENT + SIGNIFICAND_BITS) {
    const [units, rest] = divided(numerator, denominator, MIN_EXPONENT);
    const up = rest * 2n > denominator || (rest * 2n === denominator && units % 2n === 1n);
    if (units < NORMAL_UNITS) return Number(up ? units + 1n : units) * Number.MIN_VALUE;
  }
  // The quotient has at least two bits more than a double. Its last bit is set where a remainder is left, so that
  // `Number` rounds the quotient as it would round the ratio.
  const unit = exponent - SIGNIFICAND_BITS - 3;
  const [units, rest] = divided(numerator, denominator, unit);
  return scaled(Number(rest === 0n ? units : units | 1n), unit);
}

/**
 * Divides the fraction by 2^unit. Returns the whole quotient and the remainder, which is a share of `denominator`, or
 * of `denominator` x 2^unit where `unit` is above 0.
 */
function divided(numerator: bigint, denominator: bigint, unit: number): [bigint, bigint] {
  const top = unit < 0 ? numerator << BigInt(-unit) : numerator;
  const bottom = unit < 0 ? denominator : denominator << BigInt(unit);
  const units = top / bottom;
  return [units, top - units * bottom];
}

/** Exceeds the logarithm by up to 1 where a double cannot hold the value. */
function log2(value: bigint): number {
  const nearest = Number(value);
  return nearest === Infinity ? value.toString(2).length : Math.log2(nearest);
}

/**
 * Multiplies by 2^exponent in two steps, because a single power of two can exceed the range of doubles although the
 * result does not.
 */
function scaled(value: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return value * 2 ** half * 2 ** (exponent - half);
}

/** The nearest double, rounded once. */
export function decimalToNumber({ digits, scale }: Decimal): number {
  return ratioToNumber(digits, 10n ** BigInt(scale));
}

/**
 * Converts an amount in the smallest unit into tokens, rounded once. V8 parses decimal digits exactly, whatever their
 * number.
 */
export function tokensToNumber(amount: bigint, decimals: number): number {
  return Number(`${amount}e-${decimals}`);
}

/**
 * The exact average of daily amounts in tokens: their sum divided by `lastDays` (rule 3 of the snapshot API).
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

/** The exact value of an amount: amount x rate (rule 4 of the snapshot API). */
export function valueOf(amount: Ratio, rate: Decimal): Ratio {
  return {
    numerator: amount.numerator * rate.digits,
    denominator: amount.denominator * 10n ** BigInt(rate.scale),
  };
}
