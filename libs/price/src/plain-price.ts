export type PlainPrice =
  { readonly price: string; readonly refused?: undefined } | { readonly refused: string };

const NUMBER = /^\+?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/;
const MAX_DECIMALS = 36;
const MAX_WHOLE_DIGITS = 15;

/**
 * A price as a plain decimal above zero, exactly as the source gave it; or why it is refused: zero, negative, no number, or
 * of a size or precision that no token's price has (over 15 digits before or 36 behind the point).
 */
export function plainPrice(text: string): PlainPrice {
  if (/^-\d/.test(text)) return { refused: 'is negative' };
  const match = text.length <= 100 ? NUMBER.exec(text) : null;
  if (match === null) return { refused: 'is not a decimal number' };
  const [, whole = '', fraction = '', exponent = '0'] = match;
  return shifted(whole + fraction, fraction.length - Number(exponent));
}

/** The price digits / 10^scale; see plainPrice. */
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
