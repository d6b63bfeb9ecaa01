import { parseDecimal, ratioToNumber } from '#libs/domain';

/** How far a price is from another, for a person: `+12.5 %`, `-99.9 %`. @param base above 0 */
export function percentOf(price: string, base: string): string {
  const [a, b] = [parseDecimal(price), parseDecimal(base)];
  const ratio = ratioToNumber(a.digits * 10n ** BigInt(b.scale), b.digits * 10n ** BigInt(a.scale));
  const percent = (ratio - 1) * 100;
  return `${percent < 0 ? '' : '+'}${percent.toPrecision(3)} %`;
}
