import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type CallbackAnswer, type CallbackCall, Refusal } from '../callbacks/call.js';
import { bodyTooLarge, type Callbacks, createCallbacks } from '../callbacks/create-callbacks.js';
import { type CallbackHandlers, type CallbackOptions } from '../callbacks/handlers.js';

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

/** A request of Node's own server, or of a framework on it. */
export interface NodeRequest extends ParsedRequest {
  /** Set by frameworks that cut a prefix from `url`. */
  readonly originalUrl?: string;
}

/** The URL as sent: it is the one that is signed. */
function urlOf(request: NodeRequest): string {
  return request.originalUrl ?? request.url ?? '';
}

/**
 * Answers one call on Node's own request and response, past everything that a framework may do to a body; for
 * `createServer` and for adapters. Never rejects.
 */
export async function serveCall(
  callbacks: Callbacks,
  request: NodeRequest,
  response: ServerResponse,
): Promise<void> {
  const answer = await answerTo(callbacks, request);
  if (answer === undefined || response.headersSent || response.destroyed) return;
  // While the server closes, a connection kept alive after its last answer would only hold it up. So would what is left of a body.
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
    // What is no endpoint is answered without its body.
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

/** What body parsers of the frameworks leave on a request. */
interface ParsedRequest extends IncomingMessage {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

/** The caller went away before the body was whole: no answer can be sent. */
class CallerGoneError extends Error {
  override name = 'CallerGoneError';
}

/**
 * The bytes of the body as they came: those that a parser kept, or else read from the socket.
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
    // After `end` this changes nothing.
    request.once('close', () => {
      reject(new CallerGoneError('The caller went away.'));
    });
    request.once('error', () => {
      reject(new CallerGoneError('The caller went away.'));
    });
  });
}

/** A mistake of the setup that every call runs into; told to the caller too, so that a first test shows what to do. */
function alreadyParsed(): Refusal {
  return new Refusal(
    'ERR-INTERNAL',
    'The body was parsed before its signature could be verified. Mount the callbacks before the body parser, or keep the bytes: ' +
      'express.json({ verify: (req, res, bytes) => { req.rawBody = bytes } }), in NestJS NestFactory.create(AppModule, { rawBody: true }).',
  );
}
