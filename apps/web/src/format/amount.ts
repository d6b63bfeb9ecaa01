/** Formats and parses amounts. Amounts are decimal strings, which are never converted to floating-point numbers. */

interface AmountOptions {
  /** Number of decimals of the token: 18 for 10^18 units in one token. */
  readonly decimals: number;
  readonly locale: string;
  /** Maximum number of digits after the point; further digits are cut, never rounded. Default: all. */
  readonly maxFraction?: number;
}

/**
 * @param amount a whole number of the smallest unit, as a decimal string
 * @throws RangeError where the text is no whole number
 */
export function formatAmount(
  amount: string,
  { decimals, locale, maxFraction }: AmountOptions,
): string {
  if (!/^\d+$/.test(amount))
    throw new RangeError('An amount is a whole number of the smallest unit.');
  const digits = amount.padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return joined(digits.slice(0, point), digits.slice(point), { locale, maxFraction });
}

interface DecimalOptions extends Omit<AmountOptions, 'decimals'> {
  /** Number of digits after the point that are always shown. Default: 0. */
  readonly minFraction?: number;
}

/** @param text a decimal number such as `-1234.5`; other text is returned as it is */
export function formatDecimal(
  text: string,
  { locale, maxFraction, minFraction }: DecimalOptions,
): string {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return text;
  return sign + joined(whole, fraction, { locale, maxFraction, minFraction });
}

/** The decimal number that a person typed, without the commas, blanks or apostrophes between its thousands. */
export function plainDecimal(text: string): string {
  const typed = text.trim();
  const isGrouped = /^\d{1,3}(?:([\s,'’\u00a0\u202f])\d{3})(?:\1\d{3})*(?:\.\d*)?$/.test(typed);
  return isGrouped ? typed.replaceAll(/[\s,'’\u00a0\u202f]/g, '') : typed;
}

/** @param points a whole number, exact up to 2^53 − 1 */
export function formatPoints(points: number, locale: string): string {
  return new Intl.NumberFormat(locale).format(points);
}

/**
 * Parses points that a person typed: digits, optionally in groups of three.
 * @returns undefined where the text is no whole number from 1 to 2^53 − 1
 */
export function parsePoints(text: string): number | undefined {
  const typed = text.trim();
  const grouped = /^\d{1,3}(?:([\s.,'’\u00a0\u202f])\d{3}(?:\1\d{3})*)$/;
  if (!/^\d+$/.test(typed) && !grouped.test(typed)) return undefined;
  const digits = typed.replaceAll(/\D/g, '').replace(/^0+/, '');
  if (digits === '' || digits.length > 16) return undefined;
  const points = Number(digits);
  return Number.isSafeInteger(points) ? points : undefined;
}

/** Formats dollars with at least two digits after the point, and at most `maxFraction`. */
export function formatUsd(value: number, locale: string, maxFraction = 2): string {
  const style = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;
  return new Intl.NumberFormat(locale, { ...style, maximumFractionDigits: maxFraction }).format(
    value,
  );
}

export function formatPercent(rate: number, locale: string): string {
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }).format(rate);
}

interface Fractions {
  readonly locale: string;
  readonly maxFraction?: number | undefined;
  readonly minFraction?: number | undefined;
}

function joined(
  whole: string,
  fraction: string,
  { locale, maxFraction = fraction.length, minFraction = 0 }: Fractions,
): string {
  const grouped = new Intl.NumberFormat(locale).format(BigInt(whole));
  // Of an amount below 1 the zeros before its first digit do not count: it is never shown as 0.
  const zeros = /^0+$/.test(whole) ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0;
  const cut = fraction.slice(0, zeros + maxFraction).replace(/0+$/, '');
  const shown = cut.padEnd(minFraction, '0');
  return shown === '' ? grouped : `${grouped}${decimalPoint(locale)}${shown}`;
}

function decimalPoint(locale: string): string {
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}
