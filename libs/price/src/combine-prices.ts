/** One price of several sources: the median, where another source agrees with it. */
import { type Decimal, parseDecimal } from '#libs/domain';
import { scaledPrice } from './plain-price.js';
import { PriceRefusedError } from './price.errors.js';
import { comparePrices, isWithinShare, meanPrice } from './share.js';

/** One look at one source. */
export interface PriceReading {
  /** A plain decimal above 0. */
  readonly usd: string;
  /** When the source found it: its own time where it tells one, else the time of the reading. */
  readonly observedAt: Date;
}

export interface NamedReading extends PriceReading {
  readonly name: string;
}

/**
 * The median of two or more readings, of an even number the middle of the two in the middle. It counts where two readings stand for
 * it: the two in the middle, or the one in the middle and one beside it, differ by no more than `spread`. So one wrong source of
 * three changes nothing, and two have to agree. Its time is the newest of those that agree with it.
 *
 * @param spread 0.05: a twentieth of the lower one
 * @throws PriceRefusedError that names all figures, where no two of them agree in the middle
 */
export function combinePrices(readings: readonly NamedReading[], spread: Decimal): PriceReading {
  const sorted = readings
    .map((reading) => ({ ...reading, price: parseDecimal(reading.usd) }))
    .sort((a, b) => comparePrices(a.price, b.price));
  const agree = (a: number, b: number): boolean => {
    const [low, high] = [sorted[a]?.price, sorted[b]?.price];
    return low !== undefined && high !== undefined && isWithinShare(high, low, spread);
  };
  const upper = Math.floor(sorted.length / 2);
  const isOdd = sorted.length % 2 === 1;
  const isBacked = agree(upper - 1, upper) || (isOdd && agree(upper, upper + 1));
  const [below, middle] = [sorted[upper - 1], sorted[upper]];
  if (!isBacked || below === undefined || middle === undefined) {
    const figures = sorted.map(({ usd, name }) => `${usd} by ${name}`).join(', ');
    throw new PriceRefusedError(`is not the same by its sources: ${figures}`);
  }
  const price = isOdd ? middle.price : meanPrice(below.price, middle.price);
  const agreeing = sorted.filter((one) => isNear(one.price, price, spread));
  const newestMs = Math.max(...agreeing.map(({ observedAt }) => observedAt.getTime()));
  return { usd: textOf(price), observedAt: new Date(newestMs) };
}

/** Whether a source tells what the combined price is, or is apart. */
export function agreesWith(usd: string, combined: string, spread: Decimal): boolean {
  return isNear(parseDecimal(usd), parseDecimal(combined), spread);
}

function isNear(a: Decimal, b: Decimal, spread: Decimal): boolean {
  const [low, high] = comparePrices(a, b) <= 0 ? [a, b] : [b, a];
  return isWithinShare(high, low, spread);
}

function textOf({ digits, scale }: Decimal): string {
  const exact = scaledPrice(digits, scale);
  if (exact.refused === undefined) return exact.price;
  // The middle of two may have one digit more than a price may have.
  const cut = scaledPrice(digits / 10n, scale - 1);
  if (cut.refused === undefined) return cut.price;
  throw new PriceRefusedError(cut.refused);
}
