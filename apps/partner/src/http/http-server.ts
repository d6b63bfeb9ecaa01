/**
 * The HTTP server under Nest. Every answer that leaves it is signed: what Node or Fastify would answer by itself, without a
 * signature, is turned off, handed to code that signs, or not answered at all.
 */
import {
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type FastifyServerOptions } from 'fastify';
import { canonicalJson } from '#libs/domain';
import { NOT_AN_ENDPOINT, sendEnvelope, textOf } from './envelope.js';
import { signAnswer, signAnswers } from './sign-answers.js';

/** A confirmation, the largest body, has well under 1 KiB. */
const MAX_BODY_BYTES = 64 * 1024;
/** From the first byte of a call to its last. */
const REQUEST_TIMEOUT_MS = 10_000;

export function createAdapter(sharedSecret: string): FastifyAdapter {
  const options: FastifyServerOptions & { http: ServerOptions; skipMiddie: boolean } = {
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node would answer a request without Host by itself.
    http: { headersTimeout: REQUEST_TIMEOUT_MS, requireHostHeader: false },
    // Calls on connections that are open when the server stops are still served.
    return503OnClosing: false,
    // There are no Nest middlewares.
    skipMiddie: true,
    // What is not HTTP has no method, path or id that an answer could be signed for.
    clientErrorHandler: (_, socket) => {
      socket.destroy();
    },
    // A path that cannot be decoded reaches neither a route nor the hooks.
    frameworkErrors: (_, request, reply) => {
      signAnswer(request, reply, { sharedSecret, payload: textOf(NOT_AN_ENDPOINT) });
      sendEnvelope(reply, NOT_AN_ENDPOINT);
    },
  };
  const adapter = new FastifyAdapter(options);
  const fastify = adapter.getInstance();
  // The signature is over the bytes as they came: nobody parses them before it is verified.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => {
    done(null, body);
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
