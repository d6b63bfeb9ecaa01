import { type CallbackAnswer, Refusal } from '../callbacks/call.js';
import { bodyTooLarge, createCallbacks } from '../callbacks/create-callbacks.js';
import { type CallbackHandlers, type CallbackOptions } from '../callbacks/handlers.js';

/**
 * A handler in the form of the Fetch API, for Next.js routes, Hono, Bun, Deno, and workers with `node:crypto`. It
 * answers every request; a request to no endpoint gets a signed 404. The URL of the request must be the one that the
 * service sent.
 *
 *     const answer = fetchCallbacks({ apiKey, sharedSecret }, handlers);
 *     export { answer as GET, answer as POST };
 *
 * @throws TypeError for unusable options
 */
export function fetchCallbacks(
  options: CallbackOptions,
  handlers: CallbackHandlers,
): (request: Request) => Promise<Response> {
  const callbacks = createCallbacks(options, handlers);
  return async (request) => {
    const { method, url } = request;
    const call = { method, url, headers: Object.fromEntries(request.headers) };
    let body: Uint8Array = new Uint8Array();
    try {
      if (method === 'POST') body = await readBody(request, callbacks.maxBodyBytes);
    } catch (error) {
      return responseOf(callbacks.refuse(call, error));
    }
    return responseOf(await callbacks.handle({ ...call, body }));
  };
}

/** @throws Refusal, and the error of a broken connection */
async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) {
    throw new Refusal(
      'ERR-INTERNAL',
      'The body was read before its signature could be verified: give the callbacks the request before anything else reads it.',
    );
  }
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw bodyTooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw bodyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function responseOf({ status, headers, body }: CallbackAnswer): Response {
  return new Response(body === '' ? null : body, { status, headers });
}
