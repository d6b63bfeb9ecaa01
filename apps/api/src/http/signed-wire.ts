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
import { type Admission, Admissions, type Caller } from '../auth/admission.js';
import { RequestLog } from '../requests/request-log.js';
import { type MessageSigner, MessageSignatures } from './message-signatures.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first hook of every routed request. */
    admission: Admission | null;
    /** What was sent to be read by the log of requests. */
    answer: { readonly body: string | Buffer; readonly signature: string } | null;
    /** What the route's `prepare` has started. */
    prepared: Promise<void> | undefined;
    /** Signs the answer as its caller asked for; undefined where the caller did not. */
    signMessage: MessageSigner | undefined;
  }
  interface FastifyContextConfig {
    /** Starts what can be done for a known caller while it is asked whether the caller may go on. Never fails. */
    prepare?: (request: FastifyRequest, caller: Caller) => Promise<void> | undefined;
  }
}

/** The date of the contract; see `docs/wire/snapshots.md`. */
export const API_VERSION = '2026-11-23';

const SIGNATURE_HEADER = 'x-api-signature';

/** Of the request target and all headers together; what is beyond is answered 431. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Node's own limit answers unsigned or, from the parser, without knowing the caller: ours, far below it, comes first. */
export const MAX_PARSED_HEAD_BYTES = 128 * 1024;
/** Enough for the largest body of the interface, to be looked at by the signature debugger. */
export const MAX_BODY_BYTES = 16 * 1024;

/** Admits every request before anything else sees it, and signs every answer after everything else is done with it. */
@Injectable()
export class SignedWire implements HttpWire {
  readonly problemOf = problemFrom;

  /**
   * Requests that could not be parsed are signed like everything else: with the method and path of the request line where it can
   * be found, else with both empty.
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

  /** Refusals of the caller are signed as the caller asked for, too. */
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
    // An answer of the framework itself, before the first hook, comes before the caller is known.
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

  bodyOf({ code, message }: HttpProblem): string {
    return canonicalJson({ success: false, code, message });
  }
}

function bytesOf(payload: unknown): string | Buffer {
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return payload;
  if (payload === undefined || payload === null) return '';
  throw new PermanentError('UNSIGNABLE_BODY', 'Only texts and buffers can be signed and sent.');
}

/** Checks that Node would make before any hook, and answer without a signature: the server leaves them to us. */
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
  // Node hands out each byte of a request target as one character: back to the bytes that were sent.
  return [Buffer.from(method + path, 'latin1'), signed];
}
