/** Parsers of option values. None is lenient: what is written is what is meant, exactly. */
import { InvalidArgumentError } from 'commander';
import { type Decimal, parseDecimal } from '#libs/domain';

const MAX_INT = 2_147_483_647;
const DECIMAL = /^\d{1,30}(?:\.\d{1,30})?$/;
const POINTS = /^[1-9]\d{0,15}$/;

/** `none` takes a limit away. */
export const NONE = 'none';
export type OrNone<T> = T | typeof NONE;

export function positiveInteger(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > MAX_INT) {
    throw new InvalidArgumentError('Expected a whole number of at least 1.');
  }
  return value;
}

/** Zero or more. */
export function decimal(text: string): Decimal {
  if (!DECIMAL.test(text)) throw new InvalidArgumentError('Expected a decimal such as 0.01.');
  return parseDecimal(text);
}

export function positiveDecimal(text: string): Decimal {
  const value = decimal(text);
  if (value.digits === 0n) throw new InvalidArgumentError('Expected a decimal above 0.');
  return value;
}

/** Above 0; points go out as a JSON number. */
export function points(text: string): bigint {
  const value = POINTS.test(text) ? BigInt(text) : 0n;
  if (value === 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new InvalidArgumentError('Expected a whole number of points, at least 1.');
  }
  return value;
}

/** The value, or `none`. */
export function orNone<T>(parse: (text: string) => T): (text: string) => OrNone<T> {
  return (text) => (text === NONE ? NONE : parse(text));
}
