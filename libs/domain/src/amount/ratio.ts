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
/** Below so many of it, a double has fewer bits. */
const NORMAL_UNITS = 1n << 52n;

/**
 * The double nearest to numerator / denominator, rounded once, half to even (IEEE 754): correct for subnormals, and for what
 * is too large an infinity, which canonical JSON refuses.
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
  // Two bits more than a double has, and more: with the last one set where there is a rest, the language rounds as it would the ratio.
  const unit = exponent - SIGNIFICAND_BITS - 3;
  const [units, rest] = divided(numerator, denominator, unit);
  return scaled(Number(rest === 0n ? units : units | 1n), unit);
}

/** Whole units of 2^unit, and what is left of them: of `denominator`, or of as many times as much where `unit` is above 0. */
function divided(numerator: bigint, denominator: bigint, unit: number): [bigint, bigint] {
  const top = unit < 0 ? numerator << BigInt(-unit) : numerator;
  const bottom = unit < 0 ? denominator : denominator << BigInt(unit);
  const units = top / bottom;
  return [units, top - units * bottom];
}

/** Too large by up to 1 where a double cannot hold the value. */
function log2(value: bigint): number {
  const nearest = Number(value);
  return nearest === Infinity ? value.toString(2).length : Math.log2(nearest);
}

/** In two steps: a single power of two may be beyond what a double holds where the result is not. */
function scaled(value: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return value * 2 ** half * 2 ** (exponent - half);
}

/** Rounded once. */
export function decimalToNumber({ digits, scale }: Decimal): number {
  return ratioToNumber(digits, 10n ** BigInt(scale));
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
