/**
 * The HTTP server under Nest. Everything that Node or Fastify would answer by itself, without a signature, is either turned
 * off here or handed to code that signs.
 */
import {
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { type FastifyReply, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { canonicalJson } from '#libs/domain';
import { requestIdOf } from '#libs/service';
import { errorBody } from './errors/error-body.js';
import { sendError } from './errors/error.filter.js';
import { toApiError } from './errors/to-api-error.js';
import { type Admissions } from './keys/admission.js';
import { signedClientErrors } from './signing/client-errors.js';
import { signReply, signResponses } from './signing/sign-responses.js';

/** Enough for the largest body of the interface, to be looked at by the signature debugger. */
const MAX_BODY_BYTES = 16 * 1024;
/** Node's own limit answers unsigned or, from the parser, without knowing the caller: ours, far below it, comes first. */
const MAX_PARSED_HEAD_BYTES = 128 * 1024;
/** From the first byte of a request to its last; a request of ours fits into one packet. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than the usual 60 s of load balancers, so that they close idle connections first. */
const KEEP_ALIVE_MS = 65_000;

export interface HttpServerOptions {
  readonly admissions: Admissions;
  readonly trustProxy: string[] | false;
  /** Called for requests with a known key before it is asked whether they may go on. */
  readonly prepare: Parameters<typeof signResponses>[2];
}

export function createAdapter({
  admissions,
  trustProxy,
  prepare,
}: HttpServerOptions): FastifyAdapter {
  const clientErrors = signedClientErrors(admissions);
  const options: FastifyServerOptions & { http: ServerOptions; skipMiddie: boolean } = {
    trustProxy,
    genReqId: requestIdOf,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      maxHeaderSize: MAX_PARSED_HEAD_BYTES,
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: REQUEST_TIMEOUT_MS / 2,
      requireHostHeader: false,
    },
    // Requests on connections that are open when the service stops are still served.
    return503OnClosing: false,
    // There are no Nest middlewares.
    skipMiddie: true,
    clientErrorHandler: (error, socket) => {
      // Fastify declares the packet as the JSON form of a Buffer; Node hands over the Buffer.
      clientErrors.handle(error as Error, socket);
    },
    frameworkErrors: (error, request, reply) => {
      answerUnrouted(admissions, { error, request, reply }).catch(() => request.raw.destroy());
    },
  };
  const adapter = new FastifyAdapter(options);
  const fastify = adapter.getInstance();
  fastify.setReplySerializer((payload) => canonicalJson(payload));
  signResponses(fastify, admissions, prepare);
  serveExpectations(fastify.server);
  return adapter;
}

/** A path that cannot be decoded never reaches a route, nor the hooks. */
async function answerUnrouted(
  admissions: Admissions,
  { error, request, reply }: { error: Error; request: FastifyRequest; reply: FastifyReply },
): Promise<void> {
  request.admission = await admissions.admit(request);
  const answer = request.admission.refusal ?? toApiError(error);
  await signReply(request, reply, { admissions, payload: errorBody(answer) });
  sendError(reply, answer);
}

/** Node answers an `Expect` header it does not know with a bare 417; the header may as well be ignored (RFC 9110, 10.1.1). */
function serveExpectations(server: Server): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
}
