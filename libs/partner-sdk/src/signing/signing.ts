import { createHmac, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';

const SIGNATURE = /^[0-9a-f]{64}$/;

/**
 * Signs a message: HMAC-SHA256 as 64 characters of lower-case hex. The key is the text of the secret as UTF-8 bytes,
 * neither decoded nor trimmed.
 */
export function sign(sharedSecret: string, message: SignedMessage): string {
  return createHmac('sha256', sharedSecret).update(signedContent(message)).digest('hex');
}

/**
 * Whether the signature belongs to the message, over the bytes of its body. The comparison takes constant time. A
 * signature that is not 64 lower-case hex digits is refused without an error.
 */
export function verify(sharedSecret: string, message: SignedMessage, signature: unknown): boolean {
  if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return false;
  const expected = createHmac('sha256', sharedSecret).update(signedContent(message)).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}

/**
 * Verifies as `verify` does, over the bytes of the body or over their canonical form. The service sends canonical
 * bodies, but a proxy in between may print the same JSON in another form.
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
    // The body is not JSON or has no canonical form, so only its bytes can verify.
    return undefined;
  }
}

/**
 * The parts of a signed message. `METHOD + PATH + X-API-REQUEST + BODY` is signed, without separators:
 *   a call of the service         method, path and id of the call, body of the call
 *   the partner's answer          method, path and id of the call, body of the answer
 *   an answer of the staking API  method and path of the request, no id, body of the answer
 */
export interface SignedMessage {
  /** Upper case, as on the request line. */
  readonly method: string;
  /** The URL or its path, as sent. The query string is cut off, and nothing is decoded. */
  readonly url: string;
  /** `X-API-REQUEST` as sent; absent for answers of the staking API. */
  readonly requestId?: string | undefined;
  /** Empty where there is no body, as for HEAD. A string is encoded as UTF-8. */
  readonly body?: string | Uint8Array | undefined;
}

/**
 * The signed bytes of a message. Node represents each byte of a request target or a header as one character, so
 * encoding them as latin1 restores the bytes that were sent.
 */
export function signedContent({ method, url, requestId = '', body = '' }: SignedMessage): Buffer {
  const prefix = Buffer.from(method + pathOf(url) + requestId, 'latin1');
  return Buffer.concat([prefix, typeof body === 'string' ? Buffer.from(body) : body]);
}

const ORIGIN = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#]*/;

/**
 * The path of a URL or of a request target exactly as sent: nothing is decoded, resolved or normalised. Scheme,
 * authority, query string and fragment are removed. `/` where an absolute URL has no path.
 */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  const cut = end === -1 ? url : url.slice(0, end);
  if (cut.startsWith('/')) return cut;
  const origin = ORIGIN.exec(cut)?.[0];
  return origin === undefined ? cut : cut.slice(origin.length) || '/';
}

/**
 * The canonical form of a JSON value (RFC 8785): keys sorted, no white space, numbers and texts as ECMAScript writes
 * them. Members that are undefined are left out.
 * @throws TypeError for values without a JSON form: undefined, NaN, infinities, bigints, lone surrogates, cycles
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
 * Parses JSON by the rules of I-JSON (RFC 7493): UTF-8 without a byte order mark, and no field twice, since two readers
 * could each take another one of the two values.
 * @throws SyntaxError whose message repeats nothing of the input except the name of a repeated field
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

/** The name of a field that one object has twice. @param text valid JSON */
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
