import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { pathOf, PermanentError } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';

/** Signs every answer after everything else is done with it: successes, refusals, unknown routes. */
export function signAnswers(fastify: FastifyInstance, sharedSecret: string): void {
  fastify.addHook('onSend', (request, reply, payload: unknown, done) => {
    signAnswer(request, reply, { sharedSecret, payload });
    // While the server closes, a connection kept alive after its last answer would only hold it up.
    if (!fastify.server.listening) void reply.header('connection', 'close');
    done(null, payload);
  });
}

/** `METHOD + PATH + X-API-REQUEST + BODY OF THE ANSWER`, the first three of the call that is answered. */
export function signAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { sharedSecret, payload }: { sharedSecret: string; payload: unknown },
): void {
  const content = Buffer.concat([callPrefix(request), bodyOf(request, payload)]);
  void reply.headers({
    'x-api-signature': hmacSha256Hex(sharedSecret, content),
    'cache-control': 'no-store',
  });
}

/**
 * What stands before the body in everything that is signed: `METHOD + PATH + X-API-REQUEST`, each as sent. Node hands out each
 * byte of a request target or a header as one character, hence latin1: back to the bytes that were sent.
 */
export function callPrefix({ raw, headers }: Pick<FastifyRequest, 'raw' | 'headers'>): Buffer {
  const { method = '', url = '' } = raw;
  const requestId = headers['x-api-request'];
  const id = typeof requestId === 'string' ? requestId : '';
  return Buffer.from(method + pathOf(url) + id, 'latin1');
}

function bodyOf({ raw }: FastifyRequest, payload: unknown): Buffer {
  if (raw.method === 'HEAD' || payload === undefined || payload === null) return Buffer.alloc(0);
  if (typeof payload === 'string') return Buffer.from(payload);
  throw new PermanentError('UNSIGNABLE_BODY', 'Only texts can be signed and sent.');
}
