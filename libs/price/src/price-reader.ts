import { type ChainReader } from '#libs/chain';
import { PermanentError, RetryableError } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { readLimited } from './read-limited.js';
import { decimalText, valueAt } from './json-number.js';
import { type PlainPrice, plainPrice, type PriceSource, scaledPrice } from './price-source.js';

/** One look at a source. */
export interface PriceReading {
  /** A plain decimal above 0. */
  readonly usd: string;
  /** When the source found it: a feed's own time, else the time of the reading. */
  readonly observedAt: Date;
}

export type PriceReader = () => Promise<PriceReading>;

/** The source answered with something that is no price; it is not stored. */
export class PriceRefusedError extends PermanentError {
  constructor(reason: string) {
    super('PRICE_REFUSED', `The price ${reason}`);
  }
}

/** The source did not answer as it should; it may do so the next time. */
export class PriceUnavailableError extends RetryableError {
  constructor(reason: string, cause?: unknown) {
    super('PRICE_UNAVAILABLE', `The source of the price ${reason}`, { cause });
  }
}

const HTTP_TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1_048_576;
/** Clocks of chain and machine may differ by this much. */
const MAX_AHEAD_MS = 300_000;

export interface PriceReaderParts {
  readonly chain: Pick<ChainReader, 'latestRound'>;
  readonly clock: Clock;
}

/** How to read a source; undefined for `none`. */
export function priceReader(source: PriceSource, parts: PriceReaderParts): PriceReader | undefined {
  const { chain, clock } = parts;
  const now = (): Date => new Date(clock.nowMs());
  switch (source.kind) {
    case 'none':
      return undefined;
    case 'fixed':
      return () => Promise.resolve({ usd: source.usd, observedAt: now() });
    case 'chainlink':
      return async () => {
        const round = await chain.latestRound(source.feed);
        const observedAtMs = round.updatedAtSeconds * 1000;
        if (observedAtMs <= 0)
          throw new PriceRefusedError('belongs to a round that is not complete');
        if (observedAtMs > clock.nowMs() + MAX_AHEAD_MS) {
          throw new PriceRefusedError('is dated in the future');
        }
        return {
          usd: accepted(scaledPrice(round.answer, round.decimals)),
          observedAt: new Date(observedAtMs),
        };
      };
    case 'http':
      return async () => {
        const text = decimalText(valueOf(await get(source.url), source.pointer));
        if (text === undefined) throw new PriceRefusedError('is not a number at that JSON pointer');
        return { usd: accepted(plainPrice(text)), observedAt: now() };
      };
  }
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

async function get(url: string): Promise<string> {
  const { username, password, href } = new URL(url);
  const bare = new URL(href);
  [bare.username, bare.password] = ['', ''];
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  try {
    const response = await fetch(bare, {
      headers: {
        accept: 'application/json',
        ...(username === '' ? {} : { authorization: `Basic ${basic.toString('base64')}` }),
      },
      // One deadline for everything, the body included.
      signal: AbortSignal.timeout(HTTP_TIMEOUT_MS),
    });
    if (!response.ok) throw new PriceUnavailableError(`answered with status ${response.status}`);
    return await readLimited(response, MAX_BODY_BYTES);
  } catch (cause) {
    if (cause instanceof PriceUnavailableError) throw cause;
    throw new PriceUnavailableError('did not answer', cause);
  }
}
