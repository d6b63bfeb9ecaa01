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
