import { type IncomingMessage, type ServerResponse } from 'node:http';
import { createCallbacks } from '../callbacks/create-callbacks.js';
import { ENDPOINT_NAMES } from '../callbacks/endpoints.js';
import { type CallbackHandlers, type CallbackOptions } from '../callbacks/handlers.js';
import { serveCall } from './node.js';

/** The part of Fastify 4 and 5 that the plugin uses. */
interface FastifyLike {
  all(path: string, options: { onRequest: FastifyHook }, handler: () => undefined): unknown;
}
type FastifyHook = (
  request: { readonly raw: IncomingMessage; readonly originalUrl: string },
  reply: { readonly raw: ServerResponse; hijack(): unknown },
) => void;

/** A plugin for `app.register` of any Fastify instance. */
export type FastifyCallbacksPlugin = (
  fastify: unknown,
  options: unknown,
  done: (error?: Error) => void,
) => void;

/**
 * A plugin with the four endpoints. It takes a call over before Fastify reads the body, and answers without Fastify's
 * serialisers and `onSend` hooks, so that exactly the signed bytes are sent.
 *
 *     await app.register(fastifyCallbacks({ apiKey, sharedSecret }, handlers), { prefix: '/game' });
 *
 * @throws TypeError for unusable options
 */
export function fastifyCallbacks(
  options: CallbackOptions,
  handlers: CallbackHandlers,
): FastifyCallbacksPlugin {
  const callbacks = createCallbacks(options, handlers);
  const onRequest: FastifyHook = (request, reply) => {
    reply.hijack();
    const { raw, originalUrl } = request;
    void serveCall(callbacks, Object.assign(raw, { originalUrl }), reply.raw);
  };
  return (instance, _, done) => {
    const fastify = instance as FastifyLike;
    for (const name of ENDPOINT_NAMES) {
      // The handler is never reached, since the hook has taken the call over.
      fastify.all(`/${name}`, { onRequest }, () => undefined);
    }
    done();
  };
}
