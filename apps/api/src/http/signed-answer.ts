/** What makes an answer ours: the headers that every answer carries, its signature among them. */
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { PermanentError } from '#libs/domain';
import { JSON_TYPE, REQUEST_ID_HEADER } from '#libs/service';
import { hmacSha256Hex, pathOf, signedContent } from '#libs/signing';
import { type Admission } from '../auth/admission.js';

/** The date of the contract; see `docs/wire/snapshots.md`. */
export const API_VERSION = '2026-11-23';

export const SIGNATURE_HEADER = 'x-api-signature';

export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * A 200, signed, straight to the socket: the way through the hooks costs as much CPU as making the answer.
 * @param headers of this answer beside those of all: names and values in turn
 */
export function sendSigned(
  { request, reply }: Exchange,
  body: string | Buffer,
  headers: readonly string[],
): void {
  const all = headersOf(request, request.raw.method === 'HEAD' ? '' : body);
  request.answer = { body, signature: all[1] ?? '' };
  all.push(
    'content-type',
    JSON_TYPE,
    'content-length',
    String(Buffer.byteLength(body)),
    ...headers,
  );
  addTo(all, request.signMessage?.(200, { body }));
  writeHead({ request, reply }, 200, all);
  // Node leaves the body out where the method is HEAD.
  reply.raw.end(body);
}

export interface ListHead {
  readonly status: 200 | 206 | 304;
  /** What is known of the day: printable ASCII. */
  readonly sealedDay: string;
  readonly cacheControl: string;
  /** Beside those of all answers: names and values in turn. */
  readonly headers: readonly string[];
}

/**
 * The head of an answer whose body is a list of a sealed day, sent by the caller. A list cannot be signed before it is read; it leads to
 * the root that `X-Sealed-Day` names, and that header is signed in its place, whatever the method.
 */
export function sendListHead(
  { request, reply }: Exchange,
  { status, sealedDay, cacheControl, headers }: ListHead,
): void {
  const all = headersOf(request, sealedDay, cacheControl);
  request.answer = { body: sealedDay, signature: all[1] ?? '' };
  all.push('x-sealed-day', sealedDay, ...headers);
  addTo(all, request.signMessage?.(status, { sealedDay }));
  writeHead({ request, reply }, status, all);
}

/** The signature comes first. @param signed behind method and path */
function headersOf(
  { admission, id, raw }: FastifyRequest,
  signed: string | Buffer,
  cacheControl?: string,
): string[] {
  if (admission === null) {
    throw new PermanentError('NOT_ADMITTED', 'Only what was admitted is answered.');
  }
  const { method = '', url = '' } = raw;
  return answerHeaders({ method, url, requestId: id }, signed, admission, cacheControl);
}

function addTo(all: string[], headers: object = {}): void {
  for (const [name, value] of Object.entries<string>({ ...headers })) all.push(name, value);
}

function writeHead({ request, reply }: Exchange, status: number, headers: string[]): void {
  if (!request.server.server.listening) headers.push('connection', 'close');
  reply.hijack();
  reply.raw.writeHead(status, headers);
}

/** What an answer answers. */
interface AnsweredRequest {
  /** As sent; empty where the request line could not be read. */
  readonly method: string;
  /** The request target as sent; empty where the request line could not be read. */
  readonly url: string;
  readonly requestId: string;
}

/**
 * The headers that every answer carries, its signature first: names and values in turn.
 * @param signed behind method and path
 */
function answerHeaders(
  request: AnsweredRequest,
  signed: string | Buffer,
  { secret, verdict }: Admission,
  cacheControl = 'no-store',
): string[] {
  return [
    SIGNATURE_HEADER,
    hmacSha256Hex(secret, ...contentsOf(request, signed)),
    'x-api-version',
    API_VERSION,
    'x-ratelimit-limit',
    String(verdict.limit),
    'x-ratelimit-remaining',
    String(verdict.remaining),
    'x-ratelimit-reset',
    String(verdict.resetSeconds),
    'cache-control',
    cacheControl,
    'x-content-type-options',
    'nosniff',
    REQUEST_ID_HEADER,
    request.requestId,
  ];
}

/**
 * The same as an object.
 * @param body the bytes that will be sent, whatever the method; a HEAD answer has none
 */
export function responseHeaders(
  request: AnsweredRequest,
  body: string | Buffer,
  admission: Admission,
): Record<string, string> {
  const list = answerHeaders(request, request.method === 'HEAD' ? '' : body, admission);
  const pairs = list.flatMap((name, place) => (place % 2 === 0 ? [[name, list[place + 1]]] : []));
  return Object.fromEntries(pairs) as Record<string, string>;
}

const ASCII = /^[\x20-\x7e]*$/;

function contentsOf(
  { method, url }: AnsweredRequest,
  signed: string | Buffer,
): readonly (string | Buffer)[] {
  const path = pathOf(url);
  if (typeof signed === 'string' && ASCII.test(path)) {
    return [signedContent({ method, path, body: signed })];
  }
  // Node hands out each byte of a request target as one character: back to the bytes that were sent.
  return [Buffer.from(method + path, 'latin1'), signed];
}
