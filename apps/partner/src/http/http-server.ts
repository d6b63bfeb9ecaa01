/**
 * The HTTP server under Nest. The SDK answers the four endpoints; every other answer that leaves is signed here: what Node or
 * Fastify would answer by itself, without a signature, is turned off, handed to code that signs, or not answered at all.
 */
import {
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type FastifyServerOptions } from 'fastify';
import { canonicalJson } from '#libs/partner-sdk';
import { answerWithId, nameRequests, requestIdOf } from '#libs/service';
import { NOT_AN_ENDPOINT, sendEnvelope, textOf } from './error.filter.js';
import { signAnswer, signAnswers } from './sign-answers.js';

/** From the first byte of a call to its last. */
const REQUEST_TIMEOUT_MS = 10_000;

export function createAdapter(sharedSecret: string): FastifyAdapter {
  const options: FastifyServerOptions & { http: ServerOptions } = {
    genReqId: requestIdOf,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node would answer a request without Host by itself.
    http: { headersTimeout: REQUEST_TIMEOUT_MS, requireHostHeader: false },
    // Calls on connections that are open when the server stops are still served.
    return503OnClosing: false,
    // What is not HTTP has no method, path or id that an answer could be signed for.
    clientErrorHandler: (_, socket) => {
      socket.destroy();
    },
    // A path that cannot be decoded reaches neither a route nor the hooks.
    frameworkErrors: (_, request, reply) => {
      answerWithId(request, reply);
      signAnswer(request, reply, { sharedSecret, payload: textOf(NOT_AN_ENDPOINT) });
      sendEnvelope(reply, { status: 404, envelope: NOT_AN_ENDPOINT });
    },
  };
  const adapter = new FastifyAdapter(options);
  const fastify = adapter.getInstance();
  nameRequests(fastify);
  // The SDK reads bodies itself; nothing else has one.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_, body, done) => {
    body.resume();
    done(null);
  });
  fastify.setReplySerializer((payload) => canonicalJson(payload));
  signAnswers(fastify, sharedSecret);
  serveExpectations(fastify.server);
  return adapter;
}

/** Node answers an `Expect` header it does not know with a bare 417; the header may as well be ignored (RFC 9110, 10.1.1). */
function serveExpectations(server: Server): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
}
