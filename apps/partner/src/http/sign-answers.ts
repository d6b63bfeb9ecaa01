import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PermanentError } from '#libs/domain';
import { sign } from '#libs/partner-sdk';

/** Signs what the SDK does not answer, after everything else is done with it: unknown routes, health. */
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
  // As sent: middleware may have cut `url`.
  const { method, originalUrl: url, headers } = request;
  const id = headers['x-api-request'];
  const requestId = typeof id === 'string' ? id : '';
  const body = method === 'HEAD' ? '' : textOf(payload);
  void reply.headers({
    'x-api-signature': sign(sharedSecret, { method, url, requestId, body }),
    'cache-control': 'no-store',
  });
}

function textOf(payload: unknown): string {
  if (payload === undefined || payload === null) return '';
  if (typeof payload === 'string') return payload;
  throw new PermanentError('UNSIGNABLE_BODY', 'Only texts can be signed and sent.');
}
