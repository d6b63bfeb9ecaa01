import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type CallbackAnswer, type CallbackCall, Refusal } from '../callbacks/call.js';
import { bodyTooLarge, type Callbacks, createCallbacks } from '../callbacks/create-callbacks.js';
import { type CallbackHandlers, type CallbackOptions } from '../callbacks/handlers.js';

/** Middleware for Express 4 and 5, Connect, and any other framework with the same form of middleware. */
export type Middleware = (
  request: NodeRequest,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Middleware that answers the four endpoints and passes all other requests on. It reads the body itself: mount it
 * before `express.json()`, or let `express.json()` keep the bytes in `req.rawBody`. It is also a listener for
 * `http.createServer`.
 *
 *     app.use('/game', expressCallbacks({ apiKey, sharedSecret }, handlers));
 *
 * @throws TypeError for unusable options
 */
export function expressCallbacks(options: CallbackOptions, handlers: CallbackHandlers): Middleware {
  const callbacks = createCallbacks(options, handlers);
  return (request, response, next) => {
    if (next !== undefined && !callbacks.owns(urlOf(request))) next();
    else void serveCall(callbacks, request, response);
  };
}

/** A request of Node's own server, or of a framework that is built on it. */
export interface NodeRequest extends ParsedRequest {
  /** The whole URL, set by frameworks that cut a prefix from `url`. */
  readonly originalUrl?: string;
}

/** The URL as sent, since the signature covers its path. */
function urlOf(request: NodeRequest): string {
  return request.originalUrl ?? request.url ?? '';
}

/**
 * Answers one call on Node's own request and response, for `createServer` and for adapters. Nothing that a framework
 * does to bodies applies to the answer. Never rejects.
 */
export async function serveCall(
  callbacks: Callbacks,
  request: NodeRequest,
  response: ServerResponse,
): Promise<void> {
  const answer = await answerTo(callbacks, request);
  if (answer === undefined || response.headersSent || response.destroyed) return;
  // A connection that stays open delays the end of a closing server, and so does an unread rest of a body.
  const closes = isClosing(request) || !request.complete;
  response.writeHead(answer.status, { ...answer.headers, ...(closes && { connection: 'close' }) });
  response.end(answer.body);
}

async function answerTo(
  callbacks: Callbacks,
  request: NodeRequest,
): Promise<CallbackAnswer | undefined> {
  const call: Omit<CallbackCall, 'body'> = {
    method: request.method ?? '',
    url: urlOf(request),
    headers: request.headers,
  };
  let body: Uint8Array;
  try {
    // A call to no endpoint is answered without reading its body.
    body = callbacks.owns(call.url)
      ? await readBody(request, callbacks.maxBodyBytes)
      : new Uint8Array();
  } catch (error) {
    return error instanceof CallerGoneError ? undefined : callbacks.refuse(call, error);
  }
  return callbacks.handle({ ...call, body });
}

function isClosing({ socket }: NodeRequest): boolean {
  return (socket as { server?: Server }).server?.listening === false;
}

/** The fields that the body parsers of frameworks add to a request. */
interface ParsedRequest extends IncomingMessage {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

/** The caller disconnected before the whole body arrived, so no answer can be sent. */
class CallerGoneError extends Error {
  override name = 'CallerGoneError';
}

/**
 * The bytes of the body as received: the bytes that a parser kept, or else the bytes from the socket.
 * @throws Refusal (too large, already parsed), CallerGoneError
 */
async function readBody(request: ParsedRequest, maxBytes: number): Promise<Uint8Array> {
  if (request.method !== 'POST') return new Uint8Array();
  const kept = [request.rawBody, request.body].find((bytes) => bytes instanceof Uint8Array);
  if (kept !== undefined) return kept;
  if (request.readableDidRead) throw alreadyParsed();
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge();
  return readStream(request, maxBytes);
}

function readStream(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else reject(bodyTooLarge());
    });
    request.once('end', () => {
      resolve(Buffer.concat(chunks));
    });
    // After `end` the promise is settled, and this rejection has no effect.
    request.once('close', () => {
      reject(new CallerGoneError('The caller went away.'));
    });
    request.once('error', () => {
      reject(new CallerGoneError('The caller went away.'));
    });
  });
}

/** A mistake in the setup, which fails every call. The caller sees the message too, so that a first test shows it. */
function alreadyParsed(): Refusal {
  return new Refusal(
    'ERR-INTERNAL',
    'The body was parsed before its signature could be verified. Mount the callbacks before the body parser, or keep the bytes: ' +
      'express.json({ verify: (req, res, bytes) => { req.rawBody = bytes } }), in NestJS NestFactory.create(AppModule, { rawBody: true }).',
  );
}
