import { pathOf, signedContent } from '#libs/domain';
import { REQUEST_ID_HEADER } from '#libs/service';
import { hmacSha256Hex } from '#libs/signing';
import { type Admission } from '../keys/admission.js';

/** The date of the contract; see `docs/wire/snapshots.md`. */
export const API_VERSION = '2026-11-21';

/** What an answer answers. */
export interface AnsweredRequest {
  /** As sent; empty where the request line could not be read. */
  readonly method: string;
  /** The request target as sent; empty where the request line could not be read. */
  readonly url: string;
  readonly requestId: string;
}

/**
 * The headers that every answer carries, its signature among them: names and values in turn.
 * @param body the bytes that will be sent, whatever the method; a HEAD answer has none
 */
export function answerHeaders(
  request: AnsweredRequest,
  body: string | Buffer,
  { secret, verdict }: Admission,
): string[] {
  return [
    'x-api-signature',
    hmacSha256Hex(secret, contentOf(request, body)),
    'x-api-version',
    API_VERSION,
    'x-ratelimit-limit',
    String(verdict.limit),
    'x-ratelimit-remaining',
    String(verdict.remaining),
    'x-ratelimit-reset',
    String(verdict.resetSeconds),
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
    REQUEST_ID_HEADER,
    request.requestId,
  ];
}

/** The same as an object. */
export function responseHeaders(
  request: AnsweredRequest,
  body: string | Buffer,
  admission: Admission,
): Record<string, string> {
  const list = answerHeaders(request, body, admission);
  const pairs = list.flatMap((name, place) => (place % 2 === 0 ? [[name, list[place + 1]]] : []));
  return Object.fromEntries(pairs) as Record<string, string>;
}

const ASCII = /^[\x20-\x7e]*$/;

function contentOf({ method, url }: AnsweredRequest, body: string | Buffer): string | Buffer {
  const path = pathOf(url);
  const sent = method === 'HEAD' ? '' : body;
  if (typeof sent === 'string' && ASCII.test(path)) {
    return signedContent({ method, path, body: sent });
  }
  // Node hands out each byte of a request target as one character: back to the bytes that were sent.
  return Buffer.concat([Buffer.from(method + path, 'latin1'), Buffer.from(sent)]);
}
