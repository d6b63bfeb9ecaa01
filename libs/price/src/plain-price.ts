/** Prices as exact decimals: their notation, and the distance between two of them. */
import { type Decimal } from '#libs/domain';

export type PlainPrice =
  | { readonly price: string; readonly refused?: undefined }
  | { readonly price?: undefined; readonly refused: string };

const NUMBER = /^\+?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/;
const MAX_DECIMALS = 36;
const MAX_WHOLE_DIGITS = 15;

/**
 * A price as a plain decimal above zero, exactly as the source gave it, or why it is refused: zero, negative, no
 * number, or of a size or precision that no token's price has (over 15 digits before the decimal point or 36 after it).
 */
export function plainPrice(text: string): PlainPrice {
  if (/^-\d/.test(text)) return { refused: 'is negative' };
  const match = text.length <= 100 ? NUMBER.exec(text) : null;
  if (match === null) return { refused: 'is not a decimal number' };
  const [, whole = '', fraction = '', exponent = '0'] = match;
  return shifted(whole + fraction, fraction.length - Number(exponent));
}

/** The price digits / 10^scale, checked as by `plainPrice`. */
export function scaledPrice(digits: bigint, scale: number): PlainPrice {
  if (digits < 0n) return { refused: 'is negative' };
  return shifted(digits.toString(), scale);
}

function shifted(digits: string, scale: number): PlainPrice {
  const all = scale < 0 ? digits + '0'.repeat(-scale) : digits.padStart(scale + 1, '0');
  const point = all.length - Math.max(scale, 0);
  const whole = all.slice(0, point).replace(/^0+(?=\d)/, '');
  const fraction = all.slice(point).replace(/0+$/, '');
  if (/^0*$/.test(whole + fraction)) return { refused: 'is zero' };
  if (whole.length > MAX_WHOLE_DIGITS) return { refused: 'is absurdly high' };
  if (fraction.length > MAX_DECIMALS) return { refused: 'is absurdly precise' };
  return { price: fraction === '' ? whole : `${whole}.${fraction}` };
}

/** Whether |price - base| <= share x base. @param share 0.2 is a fifth */
export function isWithinShare(price: Decimal, base: Decimal, share: Decimal): boolean {
  const [left, right] = aligned(price, base);
  const difference = left > right ? left - right : right - left;
  return difference * 10n ** BigInt(share.scale) <= share.digits * right;
}

/** The exact mean of two prices. */
export function meanPrice(a: Decimal, b: Decimal): Decimal {
  const [left, right] = aligned(a, b);
  return { digits: (left + right) * 5n, scale: Math.max(a.scale, b.scale) + 1 };
}

function aligned(a: Decimal, b: Decimal): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale);
  const raise = ({ digits, scale: own }: Decimal): bigint => digits * 10n ** BigInt(scale - own);
  return [raise(a), raise(b)];
}
