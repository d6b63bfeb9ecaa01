import { type ChainReader } from '#libs/chain';
import { type Decimal, LowmarkError } from '#libs/domain';
import { type Clock } from '#libs/platform';
import {
  agreesWith,
  combinePrices,
  type NamedReading,
  type PriceReading,
} from './combine-prices.js';
import { getDocument } from './http-source.js';
import { decimalText, valueAt } from './json-number.js';
import { type PlainPrice, plainPrice, scaledPrice } from './plain-price.js';
import { nameOfSource, type PriceSource } from './price-source.js';
import { PriceRefusedError, PriceUnavailableError } from './price.errors.js';
import { sourceTimeMs } from './source-time.js';

/** Clocks of source and machine may differ by this much. */
const MAX_AHEAD_MS = 300_000;

export type PriceReader = () => Promise<PriceReading>;

/** What became of one source in one reading. */
export interface SourceReading {
  readonly name: string;
  /** `apart`: too far from the combined price; `stale`: too old to count. */
  readonly result: 'used' | 'apart' | 'stale' | 'refused' | 'failed';
  readonly usd?: string;
  readonly error?: LowmarkError;
}

export interface PriceReaderParts {
  readonly chain: Pick<ChainReader, 'latestRound'>;
  readonly clock: Clock;
  /** How far sources may differ: 0.05 is a twentieth. */
  readonly spread: Decimal;
  /** Of several sources, one whose price is older does not count. */
  readonly maxAgeSeconds: number;
  /** Told of each source after each reading of several. */
  readonly onSource?: (reading: SourceReading) => void;
}

/** How to read PRICE_SOURCE; undefined for `none`. The reader throws PriceRefusedError, PriceUnavailableError or what the chain throws. */
export function priceReader(
  sources: readonly PriceSource[],
  parts: PriceReaderParts,
): PriceReader | undefined {
  const [only, ...others] = sources;
  if (only === undefined) return undefined;
  if (others.length === 0) return () => readSource(only, parts);
  return async () => {
    const looks = await Promise.all(sources.map((source) => lookAt(source, parts)));
    const usable = looks.flatMap((look) => ('reading' in look ? look.reading : []));
    let combined: PriceReading | undefined;
    try {
      if (usable.length < 2) {
        throw new PriceUnavailableError(
          `is not enough: ${usable.length} of ${sources.length} tell a price that counts, and two have to`,
        );
      }
      combined = combinePrices(usable, parts.spread);
      return combined;
    } finally {
      for (const look of looks) parts.onSource?.(judged(look, combined, parts.spread));
    }
  };
}

/** A reading, or why it does not count. */
type Look = { readonly reading: NamedReading } | { readonly found: SourceReading };

async function lookAt(source: PriceSource, parts: PriceReaderParts): Promise<Look> {
  const name = nameOfSource(source);
  try {
    const reading = { ...(await readSource(source, parts)), name };
    const { usd } = reading;
    const ageMs = parts.clock.nowMs() - reading.observedAt.getTime();
    if (ageMs > parts.maxAgeSeconds * 1000) {
      return { found: { name, usd, result: 'stale' } };
    }
    return { reading };
  } catch (error) {
    if (!(error instanceof LowmarkError)) throw error;
    return { found: { name, error, result: error.retryable ? 'failed' : 'refused' } };
  }
}

/** @param combined absent where no two sources agree */
function judged(look: Look, combined: PriceReading | undefined, spread: Decimal): SourceReading {
  if ('found' in look) return look.found;
  const { name, usd } = look.reading;
  const isUsed = combined !== undefined && agreesWith(usd, combined.usd, spread);
  return { name, usd, result: isUsed ? 'used' : 'apart' };
}

/** One look at one source. @throws PriceRefusedError, PriceUnavailableError, what the chain throws */
async function readSource(
  source: PriceSource,
  { chain, clock }: Pick<PriceReaderParts, 'chain' | 'clock'>,
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
      return {
        usd: accepted(scaledPrice(answer, decimals)),
        observedAt: notAhead(observedAtMs, clock),
      };
    }
    case 'http': {
      const document = await getDocument(source.url);
      const text = decimalText(valueOf(document, source.pointer));
      if (text === undefined) throw new PriceRefusedError('is not a number at that JSON pointer');
      const usd = accepted(plainPrice(text));
      if (source.timePointer === undefined) return { usd, observedAt: new Date(clock.nowMs()) };
      const observedAtMs = sourceTimeMs(valueOf(document, source.timePointer));
      if (observedAtMs === undefined) {
        throw new PriceRefusedError('has no time at the second JSON pointer');
      }
      return { usd, observedAt: notAhead(observedAtMs, clock) };
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

function valueOf(document: string, pointer: string): unknown {
  try {
    return valueAt(document, pointer);
  } catch (cause) {
    throw new PriceUnavailableError('did not send JSON', cause);
  }
}
