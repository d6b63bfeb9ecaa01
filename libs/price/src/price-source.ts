import { createHash } from 'node:crypto';
import { type Address, parseAddress } from '#libs/domain';

/** PRICE_SOURCE, understood. */
export type PriceSource =
  | { readonly kind: 'none' }
  | { readonly kind: 'fixed'; readonly usd: string }
  | { readonly kind: 'chainlink'; readonly feed: Address }
  | {
      readonly kind: 'http';
      readonly url: string;
      /** RFC 6901, for example `/ethereum/usd`; empty for the whole document. */
      readonly pointer: string;
    };

const EXPECTED =
  'must be none, fixed:<decimal>, chainlink:<feed address> or http:<url>#<JSON pointer>';
const POINTER = /^(\/([^~]|~[01])*)*$/;

/**
 * Reads PRICE_SOURCE. For `@Setting({ parse: parsePriceSource })`.
 * @throws Error that says what is expected, without the text
 */
export function parsePriceSource(text: string): PriceSource {
  if (text === 'none') return { kind: 'none' };
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

function httpSource(text: string): PriceSource {
  const hash = text.indexOf('#');
  const url = hash < 0 ? text : text.slice(0, hash);
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new Error(
      'must have a whole URL after http:, such as http:https://prices.example/v1#/usd',
    );
  }
  const pointer = hash < 0 ? '' : decodeURIComponent(text.slice(hash + 1));
  if (!POINTER.test(pointer)) {
    throw new Error('must have a JSON pointer after the #, such as /data/0/usd');
  }
  return { kind: 'http', url, pointer };
}

/**
 * How a source is named in the database and the log. Of a URL only the origin: user, password, path and query may hold a key. A few
 * digits of its hash tell two sources of one host apart.
 */
export function nameOfSource(source: PriceSource): string {
  switch (source.kind) {
    case 'none':
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
