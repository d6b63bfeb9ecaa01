import { type Server, type ServerResponse } from 'node:http';
import { type CallbackAnswer, type CallbackCall } from '../callbacks/call.js';
import { type Callbacks } from '../callbacks/create-callbacks.js';
import { CallerGoneError, type ParsedRequest, readBody } from './read-body.js';

/** A request of Node's own server, or of a framework on it. */
export interface NodeRequest extends ParsedRequest {
  /** Set by frameworks that cut a prefix from `url`. */
  readonly originalUrl?: string;
}

/** The URL as sent: it is the one that is signed. */
export function urlOf(request: NodeRequest): string {
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
