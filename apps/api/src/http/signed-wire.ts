import { Injectable } from '@nestjs/common';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { addressKey } from '#libs/cache';
import { canonicalJson, PermanentError } from '#libs/domain';
import { ClientErrors, HttpProblem, type HttpWire, JSON_TYPE, problemFrom } from '#libs/service';
import { type Admission, Admissions, type Caller } from '../auth/admission.js';
import { RequestLog } from '../requests/request-log.js';
import { type MessageSigner, MessageSignatures } from './message-signatures.js';
import { responseHeaders, SIGNATURE_HEADER } from './signed-answer.js';

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
      const known = this.admissions.known(request);
      if (known !== undefined) {
        request.prepared = request.routeOptions.config.prepare?.(request, known);
      }
      const admission = await this.admissions.admit(request);
      request.admission = admission;
      const asked = this.prepareSignatures(request, admission);
      const refusal = admission.refusal ?? asked;
      if (refusal !== undefined) throw refusal;
      requireSoundHead(request);
    });
  }

  /** Refusals of the caller are signed as the caller asked for, too. */
  private prepareSignatures(
    request: FastifyRequest,
    admission: Admission,
  ): HttpProblem | undefined {
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
