import { Injectable } from '@nestjs/common';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { addressKey } from '#libs/cache';
import { canonicalJson, PermanentError } from '#libs/domain';
import {
  ClientErrors,
  HttpProblem,
  type HttpWire,
  JSON_TYPE,
  problemFrom,
  REQUEST_ID_HEADER,
} from '#libs/service';
import { hmacSha256Hex, pathOf, signedContent } from '#libs/signing';
import { type Admission, Admissions } from '../auth/admission.js';
import { type Caller } from '../auth/credential-cache.js';
import { RequestLog } from '../requests/request-log.js';
import { errorBody } from './error-body.js';
import { type MessageSigner, MessageSignatures } from './message-signatures.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first hook of every routed request. */
    admission: Admission | null;
    /** Body and signature of the answer, for the request log. */
    answer: { readonly body: string | Buffer; readonly signature: string } | null;
    /** The work that the route's `prepare` has started. */
    prepared: Promise<void> | undefined;
    /** Signs the answer as `Accept-Signature` requests; undefined where no signature is due. */
    signMessage: MessageSigner | undefined;
  }
  interface FastifyContextConfig {
    /** Starts work for a caller whose key is known, in parallel with the admission of the request. Never rejects. */
    prepare?: (request: FastifyRequest, caller: Caller) => Promise<void> | undefined;
  }
}

/** Date of the contract; see `docs/wire/snapshots.md`. */
export const API_VERSION = '2026-11-23';

const SIGNATURE_HEADER = 'x-api-signature';

/** Largest size of the request target and all headers together; a larger head is answered 431. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Node's own limit, far above `MAX_HEAD_BYTES`, because Node answers unsigned or without knowing the caller. */
export const MAX_PARSED_HEAD_BYTES = 128 * 1024;
/** Body limit of routes without a limit of their own. */
export const MAX_BODY_BYTES = 16 * 1024;

/**
 * Admits every request before anything else reads it, and signs every answer after everything else has written it.
 * Snapshots and lists of days sign and send their answers themselves (`sendSigned`, `sendListHead`).
 */
@Injectable()
export class SignedWire implements HttpWire {
  readonly problemOf = problemFrom;

  /**
   * Answers requests that could not be parsed, signed like all others: with the method and path of the request line if
   * they can be read, else with both empty.
   */
  readonly clientErrors = new ClientErrors(async (request) => {
    const admission = await this.admissions.anonymous(addressKey(request.clientAddress));
    const problem = admission.refusal ?? problemFrom({ statusCode: request.status });
    const { status, retryAfterSeconds } = problem;
    const body = this.bodyOf(problem);
    const headers = {
      ...responseHeaders(request, body, admission),
      ...(retryAfterSeconds && { 'retry-after': String(retryAfterSeconds) }),
      'content-type': JSON_TYPE,
    };
    return { status, headers, body };
  });

  constructor(
    private readonly admissions: Admissions,
    private readonly requestLog: RequestLog,
    private readonly messageSignatures: MessageSignatures,
  ) {}

  configure(fastify: FastifyInstance): void {
    fastify.setReplySerializer((payload) => canonicalJson(payload));
    fastify.decorateRequest('admission', null);
    fastify.decorateRequest('answer', null);
    fastify.decorateRequest('prepared', undefined);
    fastify.decorateRequest('signMessage', undefined);
    fastify.addHook('onRequest', async (request) => {
      const { prepare } = request.routeOptions.config;
      const known = prepare && this.admissions.known(request);
      if (known !== undefined) request.prepared = prepare?.(request, known);
      const admission = await this.admissions.admit(request);
      request.admission = admission;
      const refused = this.prepareSignatures(request, admission);
      const refusal = admission.refusal ?? refused;
      if (refusal !== undefined) throw refusal;
      requireSoundHead(request);
    });
  }

  /** Prepares the signer before a refusal is sent, so that refusals are signed as requested as well. */
  private prepareSignatures(
    request: FastifyRequest,
    admission: Admission,
  ): HttpProblem | undefined {
    if (request.headers['accept-signature'] === undefined) return undefined;
    try {
      request.signMessage = this.messageSignatures.signerFor(request, admission);
      return undefined;
    } catch (error) {
      return problemFrom(error);
    }
  }

  async refuse(request: FastifyRequest): Promise<HttpProblem | undefined> {
    request.admission = await this.admissions.admit(request);
    return request.admission.refusal;
  }

  async complete(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void> {
    // The framework may answer before the first hook has admitted the request.
    request.admission ??= await this.admissions.admit(request);
    const { method = '', url = '' } = request.raw;
    const answered = { method, url, requestId: request.id };
    const body = bytesOf(payload);
    const headers = responseHeaders(answered, body, request.admission);
    request.answer = { body, signature: headers[SIGNATURE_HEADER] ?? '' };
    void reply.headers(headers);
    if (request.signMessage === undefined) return;
    void reply.headers({ ...request.signMessage(reply.statusCode, { body }) });
  }

  answeredUnrouted(request: FastifyRequest, reply: FastifyReply): void {
    this.requestLog.note(request, reply);
  }

  bodyOf(problem: HttpProblem): string {
    return errorBody(problem);
  }
}

function bytesOf(payload: unknown): string | Buffer {
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return payload;
  if (payload === undefined || payload === null) return '';
  throw new PermanentError('UNSIGNABLE_BODY', 'Only texts and buffers can be signed and sent.');
}

/** Node would make these checks before any hook and answer unsigned; the server leaves them to this function. */
function requireSoundHead({ raw }: FastifyRequest): void {
  const headBytes = raw.rawHeaders.reduce((sum, text) => sum + text.length, raw.url?.length ?? 0);
  if (headBytes > MAX_HEAD_BYTES) {
    throw new HttpProblem(431, 'The URL and the headers of the request are too large.');
  }
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined) {
    throw new HttpProblem(400, 'The Host header is missing.');
  }
}

export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Sends a signed 200 directly to the socket, because the way through the hooks costs as much CPU as making the answer.
 * @param headers further headers of this answer: names and values, alternating
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
  // Node sends no body where the method is HEAD.
  reply.raw.end(body);
}

export interface ListHead {
  readonly status: 200 | 206 | 304;
  /** JSON of the sealed day, in printable ASCII. */
  readonly sealedDay: string;
  readonly cacheControl: string;
  /** Further headers of this answer: names and values, alternating. */
  readonly headers: readonly string[];
}

/**
 * Sends the head of an answer whose body, the list of a sealed day, the caller sends. A list cannot be signed before it
 * is read. Its lines lead to the root in `X-Sealed-Day`, so that header is signed in place of the body, whatever the
 * method.
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

/**
 * The headers of an answer, signature first.
 * @param signed content that is signed after method and path
 */
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

/** The request that an answer belongs to. */
interface AnsweredRequest {
  /** The method as sent; empty where the request line could not be read. */
  readonly method: string;
  /** The request target as sent; empty where the request line could not be read. */
  readonly url: string;
  readonly requestId: string;
}

/**
 * The headers that every answer carries, signature first: names and values, alternating.
 * @param signed content that is signed after method and path
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
 * The headers of `answerHeaders`, as an object.
 * @param body the answer's body; left out of the signature for HEAD
 */
function responseHeaders(
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
  // Node maps each byte of the request target to one character; `latin1` restores the bytes that were sent.
  return [Buffer.from(method + path, 'latin1'), signed];
}
