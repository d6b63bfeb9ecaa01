import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PermanentError } from '#libs/domain';
import { ApiError } from '../errors/api.error.js';
import { type Admission, type Admissions } from '../keys/admission.js';
import { type KeptPart } from '../../snapshots/kept-part.js';
import { responseHeaders } from './response-headers.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first hook of every routed request. */
    admission: Admission | null;
    /** What was started for a known caller's request before it was known whether it may go on. */
    prepared: Promise<KeptPart | undefined> | undefined;
  }
}

/** Of the request target and all headers together; what is beyond is answered 431. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Admits every request before anything else sees it, and signs every answer after everything else is done with it. */
export function signResponses(
  fastify: FastifyInstance,
  admissions: Admissions,
  prepare: (request: FastifyRequest) => Promise<KeptPart | undefined> | undefined,
): void {
  fastify.decorateRequest('admission', null);
  fastify.decorateRequest('prepared', undefined);
  fastify.addHook('onRequest', async (request) => {
    // In the same breath as the question whether the caller may go on, but not for keys that are not known.
    if (admissions.knows(request)) request.prepared = prepare(request);
    const admission = await admissions.admit(request);
    request.admission = admission;
    if (admission.refusal !== undefined) throw admission.refusal;
    requireSoundHead(request);
  });
  fastify.addHook('onSend', async (request, reply, payload: unknown) => {
    await signReply(request, reply, { admissions, payload });
    // While the server closes, a connection kept alive after its last answer would only hold it up.
    if (!fastify.server.listening) void reply.header('connection', 'close');
    return payload;
  });
}

/** Adds signature and limits to an answer that is about to be sent. */
export async function signReply(
  request: FastifyRequest,
  reply: FastifyReply,
  { admissions, payload }: { admissions: Admissions; payload: unknown },
): Promise<void> {
  // An answer of the framework itself, before the first hook, comes before the caller is known.
  request.admission ??= await admissions.admit(request);
  const { method = '', url = '' } = request.raw;
  const answered = { method, url, requestId: request.id };
  void reply.headers(responseHeaders(answered, bytesOf(payload), request.admission));
}

function bytesOf(payload: unknown): string | Buffer {
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return payload;
  if (payload === undefined || payload === null) return '';
  throw new PermanentError('UNSIGNABLE_BODY', 'Only texts and buffers can be signed and sent.');
}

/**
 * Checks that Node would make before any hook, and answer without a signature. The server is set up to leave them to us (see
 * `httpOptions`).
 */
function requireSoundHead({ raw }: FastifyRequest): void {
  const headBytes = raw.rawHeaders.reduce((sum, text) => sum + text.length, raw.url?.length ?? 0);
  if (headBytes > MAX_HEAD_BYTES) {
    throw new ApiError(431, 'The URL and the headers of the request are too large.');
  }
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined) {
    throw ApiError.badRequest('The Host header is missing.');
  }
}
