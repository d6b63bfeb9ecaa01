/** Comparisons of prices, exact. */
import { type Decimal, parseDecimal } from '#libs/domain';

/** Below 0, 0 or above 0, as the first is less than, equal to or more than the second. */
export function comparePrices(a: Decimal, b: Decimal): number {
  const [left, right] = aligned(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Whether |price - base| <= share x base. @param share 0.2 is a fifth */
export function isWithinShare(price: Decimal, base: Decimal, share: Decimal): boolean {
  const [left, right] = aligned(price, base);
  const difference = left > right ? left - right : right - left;
  return difference * 10n ** BigInt(share.scale) <= share.digits * right;
}

/** The exact middle of two. */
export function meanPrice(a: Decimal, b: Decimal): Decimal {
  const [left, right] = aligned(a, b);
  return { digits: (left + right) * 5n, scale: Math.max(a.scale, b.scale) + 1 };
}

/** For settings that are a share: 0.05 is a twentieth. @throws Error that says what is expected */
export function parseShare(text: string): Decimal {
  if (!/^\d{1,3}(?:\.\d{1,9})?$/.test(text) || /^[0.]+$/.test(text)) {
    throw new Error('must be a share above 0, such as 0.05');
  }
  return parseDecimal(text);
}

function aligned(a: Decimal, b: Decimal): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale);
  const raise = ({ digits, scale: own }: Decimal): bigint => digits * 10n ** BigInt(scale - own);
  return [raise(a), raise(b)];
}
