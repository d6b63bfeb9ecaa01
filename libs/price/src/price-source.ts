import { createHash } from 'node:crypto';
import { type Address, parseAddress, PermanentError, RetryableError } from '#libs/domain';
import { plainPrice } from './plain-price.js';

export type PriceSource =
  | { readonly kind: 'fixed'; readonly usd: string }
  | { readonly kind: 'chainlink'; readonly feed: Address }
  | HttpSource;

export interface HttpSource {
  readonly kind: 'http';
  readonly url: string;
  /** JSON pointer (RFC 6901) of the price, for example `/ethereum/usd`; empty for the whole document. */
  readonly pointer: string;
  /** JSON pointer of the time at which the source found the price; where absent, the time of the reading counts. */
  readonly timePointer?: string;
}

const EXPECTED =
  'must be none, fixed:<decimal>, chainlink:<feed address> or http:<url>#<JSON pointer>, or several separated by commas';
const POINTER = /^(\/([^~]|~[01])*)*$/;
const MOST = 9;
/** Splits at commas before the beginning of a source only, so that a URL may contain commas. */
const BETWEEN = /,\s*(?=(?:none$|none,|fixed:|chainlink:|http:https?:\/\/))/;

/**
 * Parses PRICE_SOURCE: no source for `none`, else one or several. For `@Setting({ parse: parsePriceSources })`.
 * @throws Error that says what is expected, without the text of the setting
 */
export function parsePriceSources(text: string): readonly PriceSource[] {
  if (text === 'none') return [];
  const sources = text.split(BETWEEN).map(parsePriceSource);
  if (new Set(sources.map(nameOfSource)).size < sources.length) {
    throw new Error('must not name a source twice');
  }
  if (sources.length > MOST) throw new Error(`must name ${MOST} sources at most`);
  return sources;
}

function parsePriceSource(text: string): PriceSource {
  const colon = text.indexOf(':');
  const [kind, rest] = [text.slice(0, colon), text.slice(colon + 1)];
  switch (kind) {
    case 'fixed': {
      const usd = plainPrice(rest);
      if (usd.refused !== undefined) throw new Error(`has a fixed price that ${usd.refused}`);
      return { kind, usd: usd.price };
    }
    case 'chainlink': {
      const feed = parseAddress(rest);
      if (feed === undefined) throw new Error('must name the feed as 0x and 40 hex digits');
      return { kind, feed };
    }
    case 'http':
      return httpSource(rest);
    default:
      throw new Error(EXPECTED);
  }
}

/** Parses `<url>#<pointer>`, or `<url>#<pointer>#<pointer of the time>`. */
function httpSource(text: string): PriceSource {
  const [url = '', pointer, timePointer, ...more] = text.split('#');
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new Error(
      'must have a whole URL after http:, such as http:https://prices.example/v1#/usd',
    );
  }
  if (more.length > 0) throw new Error('must have two JSON pointers at most: price and time');
  return {
    kind: 'http',
    url,
    pointer: pointerOf(pointer ?? '', 'must have a JSON pointer after the #, such as /data/0/usd'),
    ...(timePointer !== undefined && {
      timePointer: pointerOf(
        timePointer,
        'must have the JSON pointer of the time after the second #, such as /data/0/updated_at',
      ),
    }),
  };
}

function pointerOf(text: string, expected: string): string {
  const pointer = decodeURIComponent(text);
  if (!POINTER.test(pointer)) throw new Error(expected);
  return pointer;
}

/**
 * The name of a source in the database and the log. Of a URL the name has only the origin, because user, password, path
 * and query may contain a key. The first digits of the URL's hash tell two sources of one host apart.
 */
export function nameOfSource(source: PriceSource): string {
  switch (source.kind) {
    case 'fixed':
      return source.kind;
    case 'chainlink':
      return `chainlink:${source.feed}`;
    case 'http': {
      const hash = createHash('sha256').update(source.url).digest('hex').slice(0, 6);
      return `http:${new URL(source.url).origin}#${source.pointer} (${hash})`;
    }
  }
}

export function nameOfSources(sources: readonly PriceSource[]): string {
  return sources.map(nameOfSource).join(', ') || 'none';
}

/** The source answered with something that is no price, which is not stored. */
export class PriceRefusedError extends PermanentError {
  constructor(reason: string) {
    super('PRICE_REFUSED', `The price ${reason}`);
  }
}

/** The source did not answer as it should, and may do so the next time. */
export class PriceUnavailableError extends RetryableError {
  constructor(reason: string, cause?: unknown) {
    super('PRICE_UNAVAILABLE', `The source of the price ${reason}`, { cause });
  }
}
