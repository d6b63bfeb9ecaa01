import { createHmac, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';

const SIGNATURE = /^[0-9a-f]{64}$/;

/** HMAC-SHA256 in lower-case hex, 64 characters. The key is the secret's own text as UTF-8 bytes: never decoded, never trimmed. */
export function sign(sharedSecret: string, message: SignedMessage): string {
  return createHmac('sha256', sharedSecret).update(signedContent(message)).digest('hex');
}

/**
 * Whether the signature is the message's, over its body's bytes. The comparison takes the same time wherever the two differ;
 * what is not 64 lower-case hex digits is refused without an error.
 */
export function verify(sharedSecret: string, message: SignedMessage, signature: unknown): boolean {
  if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return false;
  const expected = createHmac('sha256', sharedSecret).update(signedContent(message)).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}

/**
 * As `verify`, over the bytes or over their canonical form: bodies are sent canonical, but a proxy in between may print the same
 * JSON in another way.
 */
export function verifyJson(
  sharedSecret: string,
  message: SignedMessage & { readonly body: Uint8Array },
  signature: unknown,
): boolean {
  if (verify(sharedSecret, message, signature)) return true;
  const body = canonicalForm(message.body);
  return body !== undefined && verify(sharedSecret, { ...message, body }, signature);
}

function canonicalForm(bytes: Uint8Array): string | undefined {
  try {
    return canonicalJson(parseStrictJson(bytes));
  } catch {
    // Not JSON, or JSON that has no canonical form: then there are only the bytes.
    return undefined;
  }
}

/**
 * What is signed, `METHOD + PATH + X-API-REQUEST + BODY` without separators:
 *   our call to a partner     method, path and id of the call, body of the call
 *   the partner's answer      method, path and id of the call, body of the answer
 *   the staking API's answer  method and path of the request, no id, body of the answer
 */
export interface SignedMessage {
  /** Upper case, as on the request line. */
  readonly method: string;
  /** The URL or its path, as sent; the query string is cut off, nothing is decoded. */
  readonly url: string;
  /** `X-API-REQUEST` as sent; left out for answers of the staking API. */
  readonly requestId?: string | undefined;
  /** Empty where there is none, as for HEAD. A text is taken as UTF-8. */
  readonly body?: string | Uint8Array | undefined;
}

/**
 * Node hands out each byte of a request target or a header as one character, hence latin1: back to the bytes that were sent.
 */
export function signedContent({ method, url, requestId = '', body = '' }: SignedMessage): Buffer {
  const prefix = Buffer.from(method + pathOf(url) + requestId, 'latin1');
  return Buffer.concat([prefix, typeof body === 'string' ? Buffer.from(body) : body]);
}

const ORIGIN = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#]*/;

/** The path of a URL or of a request target exactly as sent: nothing is decoded, resolved or normalised. */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  const cut = end === -1 ? url : url.slice(0, end);
  if (cut.startsWith('/')) return cut;
  const origin = ORIGIN.exec(cut)?.[0];
  return origin === undefined ? cut : cut.slice(origin.length) || '/';
}

/**
 * The canonical form of a JSON value (RFC 8785): keys sorted, no white space, numbers and texts as ECMAScript writes them.
 * Members that are undefined are left out.
 * @throws TypeError for what JSON cannot say: undefined, NaN, infinities, bigints, halves of surrogate pairs, circles
 */
export function canonicalJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (cause) {
    throw new TypeError('The value has no JSON form.', { cause });
  }
  if (text === undefined) throw new TypeError('The value has no JSON form.');
  return text;
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;
const NAME = /^\w{1,64}$/;

/**
 * JSON as I-JSON (RFC 7493) wants it: UTF-8 without a byte order mark, and no field twice, where two readers could each take
 * another one.
 * @throws SyntaxError that never repeats what was sent
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = UTF_8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new SyntaxError('The body is not JSON in UTF-8.');
  }
  const twice = repeatedField(text);
  if (twice === undefined) return value;
  const name = NAME.test(twice) ? twice : 'a field';
  throw new SyntaxError(`The body is not usable: ${name} must be given once`);
}

/** @param text valid JSON */
function repeatedField(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const names = open.at(-1);
      const name = JSON.parse(last) as string;
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    last = token;
  }
  return undefined;
}
