/** The HTTP server under Nest: JSON in, JSON out, and every error in the same envelope. */
import { type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type FastifyServerOptions } from 'fastify';
import {
  answerWithId,
  type BareAnswer,
  type BrokenRequest,
  ClientErrors,
  nameRequests,
  REQUEST_ID_HEADER,
  requestIdOf,
} from '#libs/service';
import { errorBody, JSON_TYPE, sendError } from './error.filter.js';
import { parseStrictJson } from './strict-json.js';
import { toUserError } from './to-user-error.js';

/** A signature of a contract wallet that does not exist yet brings its deployment along; the rest is far below 1 KiB. */
const MAX_BODY_BYTES = 16 * 1024;
/** From the first byte of a request to its last. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than the usual 60 s of load balancers, so that they close idle connections first. */
const KEEP_ALIVE_MS = 65_000;

/** Answers are of one wallet. */
const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** @param trustProxy whose X-Forwarded-For tells a client's address */
export function createAdapter(trustProxy: string[] | false): FastifyAdapter {
  const clientErrors = new ClientErrors(refuse);
  const options: FastifyServerOptions & { http: ServerOptions; skipMiddie: boolean } = {
    trustProxy,
    genReqId: requestIdOf,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: REQUEST_TIMEOUT_MS / 2,
      // Node answers without our envelope; nothing here needs the header.
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
    // A path that cannot be decoded never reaches a route, nor the error filter.
    frameworkErrors: (error, request, reply) => {
      answerWithId(request, reply);
      void reply.headers(COMMON_HEADERS);
      sendError(reply, toUserError(error));
    },
  };
  const adapter = new FastifyAdapter(options);
  const fastify = adapter.getInstance();
  nameRequests(fastify);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (_, body, done) => {
      try {
        done(null, parseStrictJson(body));
      } catch (error) {
        done(error as Error);
      }
    },
  );
  fastify.addHook('onSend', async (_, reply) => {
    void reply.headers(COMMON_HEADERS);
    return Promise.resolve();
  });
  // Node answers an `Expect` it does not know with a bare 417; the header may as well be ignored (RFC 9110, 10.1.1).
  fastify.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    fastify.server.emit('request', request, response);
  });
  return adapter;
}

/** What could not even be parsed. */
function refuse({ status, requestId }: BrokenRequest): BareAnswer {
  const headers = { ...COMMON_HEADERS, [REQUEST_ID_HEADER]: requestId, 'content-type': JSON_TYPE };
  return { status, headers, body: errorBody(toUserError({ statusCode: status })) };
}
