/** Amounts as people read them. They are decimal strings and stay so: no floating-point number is ever made of one. */

interface AmountOptions {
  /** Of the smallest unit: 18 for 10^18 units in one token. */
  readonly decimals: number;
  readonly locale: string;
  /** Digits after the point at most; what is beyond is cut, never rounded up. Default: all. */
  readonly maxFraction?: number;
}

/**
 * @param amount a whole number of the smallest unit, as a decimal string
 * @throws RangeError where it is none
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

/** @param text a decimal number, `-1234.5`; what is none stays as it is */
export function formatDecimal(
  text: string,
  { locale, maxFraction }: Omit<AmountOptions, 'decimals'>,
): string {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return text;
  return sign + joined(whole, fraction, { locale, maxFraction });
}

/** @param points a whole number, exact up to 2^53 − 1 */
export function formatPoints(points: number, locale: string): string {
  return new Intl.NumberFormat(locale).format(points);
}

/**
 * What a person typed as a number of points: digits, in groups of three or not.
 * @returns undefined where it is no whole number from 1 to 2^53 − 1
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

/** In dollars with cents; less than a cent keeps the digits that say how much. */
export function formatUsd(value: number, locale: string, maxFraction = 2): string {
  const style = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;
  return new Intl.NumberFormat(locale, { ...style, maximumFractionDigits: maxFraction }).format(
    value,
  );
}

export function formatPercent(rate: number, locale: string): string {
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }).format(rate);
}

function joined(
  whole: string,
  fraction: string,
  { locale, maxFraction }: { readonly locale: string; readonly maxFraction: number | undefined },
): string {
  const grouped = new Intl.NumberFormat(locale).format(BigInt(whole));
  const shown = fraction.slice(0, maxFraction).replace(/0+$/, '');
  return shown === '' ? grouped : `${grouped}${decimalPoint(locale)}${shown}`;
}

function decimalPoint(locale: string): string {
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}
