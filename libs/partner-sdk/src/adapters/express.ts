import { type ServerResponse } from 'node:http';
import { createCallbacks } from '../callbacks/create-callbacks.js';
import { type CallbackHandlers } from '../callbacks/handlers.js';
import { type CallbackOptions } from '../callbacks/options.js';
import { type NodeRequest, serveCall, urlOf } from './node.js';

/** Express 4 and 5, Connect, and anything else that has their form of middleware. */
export type Middleware = (
  request: NodeRequest,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Middleware that answers the four endpoints and passes everything else on. It reads the body itself: mount it before
 * `express.json()`, or let that keep the bytes in `req.rawBody`. Also a listener for `http.createServer`.
 *
 *     app.use('/game', expressCallbacks({ apiKey, sharedSecret }, handlers));
 *
 * @throws TypeError for options that cannot be meant
 */
export function expressCallbacks(options: CallbackOptions, handlers: CallbackHandlers): Middleware {
  const callbacks = createCallbacks(options, handlers);
  return (request, response, next) => {
    if (next !== undefined && !callbacks.owns(urlOf(request))) next();
    else void serveCall(callbacks, request, response);
  };
}
