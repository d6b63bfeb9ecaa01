/** Reads PRICE_SOURCE: a single source as it is; of several sources the median, where two sources agree on it. */
import { type PriceRound } from '#libs/chain';
import {
  type Address,
  compareDecimals,
  type Decimal,
  LowmarkError,
  parseDecimal,
} from '#libs/domain';
import { type Clock } from '#libs/platform';
import { readHttpSource } from './http-source.js';
import { isWithinShare, meanPrice, type PlainPrice, scaledPrice } from './plain-price.js';
import {
  nameOfSource,
  PriceRefusedError,
  type PriceSource,
  PriceUnavailableError,
} from './price-source.js';

/** Milliseconds by which a price may be dated ahead of our clock, because clocks differ. */
const MAX_AHEAD_MS = 300_000;

/** How far two sources may differ to agree, as a share of the lower one: 5 %. */
const MAX_SPREAD = parseDecimal('0.05');

/** One reading of one source, or of all sources combined. */
export interface PriceReading {
  /** A plain decimal above 0. */
  readonly usd: string;
  /** When the source found the price: the source's own time where it gives one, else the time of the reading. */
  readonly observedAt: Date;
}

export type PriceReader = () => Promise<PriceReading>;

export interface SourceReading {
  readonly name: string;
  /** `apart`: too far from the combined price, or no two sources agree. `stale`: too old to count. */
  readonly result: 'used' | 'apart' | 'stale' | 'refused' | 'failed';
  readonly usd?: string;
  readonly error?: LowmarkError;
}

export interface PriceReaderOptions {
  /** Reads price feeds: a ChainReader. */
  readonly chain: { latestRound(feed: Address): Promise<PriceRound> };
  readonly clock: Clock;
  /** With several sources, a source whose price is older does not count. */
  readonly maxAgeSeconds: number;
  /** Called for each source after each reading of several sources. */
  readonly onSource?: (reading: SourceReading) => void;
}

/**
 * The reader of PRICE_SOURCE; undefined for `none`. The reader throws PriceRefusedError, PriceUnavailableError, or the
 * error of the chain.
 */
export function priceReader(
  sources: readonly PriceSource[],
  options: PriceReaderOptions,
): PriceReader | undefined {
  const [only, ...others] = sources;
  if (only === undefined) return undefined;
  if (others.length === 0) return () => readSource(only, options);
  return async () => {
    const tried = await Promise.all(sources.map((source) => trySource(source, options)));
    const usable = tried.flatMap((one) => ('reading' in one ? one.reading : []));
    let combined: PriceReading | undefined;
    try {
      if (usable.length < 2) {
        throw new PriceUnavailableError(
          `is not enough: ${usable.length} of ${sources.length} tell a price that counts, and two have to`,
        );
      }
      combined = combinePrices(usable);
      return combined;
    } finally {
      for (const one of tried) options.onSource?.(judged(one, combined));
    }
  };
}

interface NamedReading extends PriceReading {
  readonly name: string;
}

/** A reading, or the result of a source that does not count. */
type Tried = { readonly reading: NamedReading } | { readonly left: SourceReading };

async function trySource(source: PriceSource, options: PriceReaderOptions): Promise<Tried> {
  const name = nameOfSource(source);
  try {
    const reading = { ...(await readSource(source, options)), name };
    const ageMs = options.clock.nowMs() - reading.observedAt.getTime();
    const isStale = ageMs > options.maxAgeSeconds * 1000;
    return isStale ? { left: { name, usd: reading.usd, result: 'stale' } } : { reading };
  } catch (error) {
    if (!(error instanceof LowmarkError)) throw error;
    return { left: { name, error, result: error.retryable ? 'failed' : 'refused' } };
  }
}

/** @param combined the combined price; absent where no two sources agree */
function judged(tried: Tried, combined: PriceReading | undefined): SourceReading {
  if ('left' in tried) return tried.left;
  const { name, usd } = tried.reading;
  const isUsed = combined && isNear(parseDecimal(usd), parseDecimal(combined.usd));
  return { name, usd, result: isUsed === true ? 'used' : 'apart' };
}

async function readSource(
  source: PriceSource,
  { chain, clock }: PriceReaderOptions,
): Promise<PriceReading> {
  switch (source.kind) {
    case 'fixed':
      return { usd: source.usd, observedAt: new Date(clock.nowMs()) };
    case 'chainlink': {
      const { answer, decimals, ...round } = await chain.latestRound(source.feed);
      const observedAtMs = round.updatedAtSeconds * 1000;
      if (observedAtMs <= 0) throw new PriceRefusedError('belongs to a round that is not complete');
      if (round.answeredInRound < round.roundId) {
        throw new PriceRefusedError('was carried over from an earlier round');
      }
      const usd = accepted(scaledPrice(answer, decimals));
      return { usd, observedAt: notAhead(observedAtMs, clock) };
    }
    case 'http': {
      const { usd, observedAtMs } = await readHttpSource(source);
      return { usd, observedAt: notAhead(observedAtMs ?? clock.nowMs(), clock) };
    }
  }
}

function notAhead(observedAtMs: number, clock: Clock): Date {
  if (observedAtMs > clock.nowMs() + MAX_AHEAD_MS) {
    throw new PriceRefusedError('is dated in the future');
  }
  return new Date(observedAtMs);
}

function accepted(price: PlainPrice): string {
  if (price.refused !== undefined) throw new PriceRefusedError(price.refused);
  return price.price;
}

/**
 * Combines two or more readings to their median; of an even number, the median is the mean of the two in the middle.
 * The median counts where two readings support it: the two in the middle, or the one in the middle and a neighbour,
 * differ by no more than MAX_SPREAD. So one wrong source of three changes nothing, and two have to agree. The time is the
 * newest of the readings that agree with the median.
 *
 * @throws PriceRefusedError that names all prices, where no two of them agree in the middle
 */
function combinePrices(readings: readonly NamedReading[]): PriceReading {
  const sorted = readings
    .map((reading) => ({ ...reading, price: parseDecimal(reading.usd) }))
    .sort((a, b) => compareDecimals(a.price, b.price));
  const agree = (a: number, b: number): boolean => {
    const [low, high] = [sorted[a]?.price, sorted[b]?.price];
    return low !== undefined && high !== undefined && isWithinShare(high, low, MAX_SPREAD);
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
  const agreeing = sorted.filter((one) => isNear(one.price, price));
  const newestMs = Math.max(...agreeing.map(({ observedAt }) => observedAt.getTime()));
  return { usd: textOf(price), observedAt: new Date(newestMs) };
}

function isNear(a: Decimal, b: Decimal): boolean {
  const [low, high] = compareDecimals(a, b) <= 0 ? [a, b] : [b, a];
  return isWithinShare(high, low, MAX_SPREAD);
}

function textOf({ digits, scale }: Decimal): string {
  const exact = scaledPrice(digits, scale);
  // The mean of two prices may have one decimal more than a price may have.
  return exact.refused === undefined ? exact.price : accepted(scaledPrice(digits / 10n, scale - 1));
}
