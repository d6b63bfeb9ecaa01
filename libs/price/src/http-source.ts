/**
 * A source that answers with JSON over HTTP: reads its price with every digit that was sent, and the time of the price.
 */
import { plainPrice } from './plain-price.js';
import { type HttpSource, PriceRefusedError, PriceUnavailableError } from './price-source.js';

const HTTP_TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1_048_576;

/** A plain number below this value is in seconds, any other in milliseconds: in seconds this value is the year 5138. */
const SECONDS_BELOW = 100_000_000_000;
const NUMBER = /^\d{1,16}(?:\.\d{1,9})?$/;
/** ISO 8601 with a time zone, because a time without one is ambiguous. */
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** @returns the price, and its time where the source gives one. @throws PriceRefusedError, PriceUnavailableError */
export async function readHttpSource({
  url,
  pointer,
  timePointer,
}: HttpSource): Promise<{ readonly usd: string; readonly observedAtMs: number | undefined }> {
  const document = parseExactly(await fetchText(url));
  const text = decimalText(valueAt(document, pointer));
  if (text === undefined) throw new PriceRefusedError('is not a number at that JSON pointer');
  const { price: usd, refused } = plainPrice(text);
  if (usd === undefined) throw new PriceRefusedError(refused);
  if (timePointer === undefined) return { usd, observedAtMs: undefined };
  const observedAtMs = timeMs(decimalText(valueAt(document, timePointer)));
  if (observedAtMs === undefined) {
    throw new PriceRefusedError('has no time at the second JSON pointer');
  }
  return { usd, observedAtMs };
}

/** Fetches a URL. Credentials in the URL are sent as HTTP basic authentication. */
async function fetchText(url: string): Promise<string> {
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
      // One timeout for the whole exchange, including the body.
      signal: AbortSignal.timeout(HTTP_TIMEOUT_MS),
    });
    if (!response.ok) throw new PriceUnavailableError(`answered with status ${response.status}`);
    return await boundedText(response);
  } catch (cause) {
    if (cause instanceof PriceUnavailableError) throw cause;
    throw new PriceUnavailableError('did not answer', cause);
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw new RangeError(`more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Parses JSON with each number as `{ source }`, the text that was sent, because a double would round it. */
function parseExactly(document: string): unknown {
  const keepDigits: Reviver = (_key, value, context) =>
    typeof value === 'number' ? { source: context.source ?? String(value) } : value;
  try {
    // Every supported runtime passes a third argument to a reviver, which TypeScript's library does not declare yet.
    return JSON.parse(document, keepDigits as Parameters<typeof JSON.parse>[1]) as unknown;
  } catch (cause) {
    throw new PriceUnavailableError('did not send JSON', cause);
  }
}

/** The value at a JSON pointer (RFC 6901); undefined where there is none. */
function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** The text of a number, or a string as it is; undefined for any other value. */
function decimalText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || !('source' in value)) return undefined;
  return typeof value.source === 'string' ? value.source : undefined;
}

/**
 * Parses Unix seconds, Unix milliseconds, or ISO 8601 with a time zone.
 * @returns Unix milliseconds; undefined for any other text
 */
function timeMs(text = ''): number | undefined {
  if (NUMBER.test(text)) {
    const number = Number(text);
    const ms = Math.floor(number < SECONDS_BELOW ? number * 1000 : number);
    return ms > 0 ? ms : undefined;
  }
  const ms = ISO.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
