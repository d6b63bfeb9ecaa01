import { createHmac, timingSafeEqual } from 'node:crypto';

/** A message to be signed; see `docs/wire/signature.md`. */
export interface SignableMessage {
  /** Upper case, as on the request line. */
  readonly method: string;
  /** The path as sent, including the path of the base URL, without the query string; see `pathOf`. */
  readonly path: string;
  /** `X-API-REQUEST`; absent for answers of the staking API. */
  readonly requestId?: string;
  /** The body as sent, in canonical JSON; empty where there is none. */
  readonly body: string;
}

/** `METHOD + PATH + X-API-REQUEST + BODY`, without separators. */
export function signedContent({ method, path, requestId = '', body }: SignableMessage): string {
  return method + path + requestId + body;
}

const ABSOLUTE = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#]*/;

/**
 * The path of a URL or of a request target exactly as sent: nothing is decoded, resolved or normalised. Scheme,
 * authority, query string and fragment are removed. `/` where an absolute URL has no path.
 */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  const cut = end === -1 ? url : url.slice(0, end);
  const origin = ABSOLUTE.exec(cut)?.[0];
  return origin === undefined ? cut : cut.slice(origin.length) || '/';
}

const SIGNATURE = /^[0-9a-f]{64}$/;

/**
 * HMAC-SHA256 as 64 characters of lower-case hex. The key is the text of the secret as UTF-8 bytes, neither decoded nor
 * trimmed.
 * @param contents see `signedContent`; several are signed as one
 */
export function hmacSha256Hex(
  secret: string,
  ...contents: readonly (string | Uint8Array)[]
): string {
  const hmac = createHmac('sha256', secret);
  for (const content of contents) hmac.update(content);
  return hmac.digest('hex');
}

/**
 * Whether the signature belongs to the content. The comparison takes constant time. A signature that is not 64
 * lower-case hex digits is refused without an error.
 */
export function verifySignature(
  secret: string,
  content: string | Uint8Array,
  signature: string | undefined,
): boolean {
  if (signature === undefined || !SIGNATURE.test(signature)) return false;
  const expected = createHmac('sha256', secret).update(content).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
