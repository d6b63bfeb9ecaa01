import { NotFoundException } from '@nestjs/common';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PermanentError } from '#libs/domain';
import { canonicalJson, sign } from '#libs/partner-sdk';
import { type Logger } from '#libs/platform';
import { answerWithId, HttpProblem, type HttpWire } from '#libs/service';

const NOT_AN_ENDPOINT = 'There is no such endpoint.';

/**
 * The SDK answers the four endpoints. Every other answer has the same envelope and is signed here. A request that is
 * not HTTP gets no answer: it has no method, path or id that an answer could be signed for.
 */
export class PartnerWire implements HttpWire {
  constructor(
    private readonly sharedSecret: string,
    private readonly logger: Logger,
  ) {}

  configure(fastify: FastifyInstance): void {
    // The SDK reads bodies itself; no other route has one.
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('*', (_, body, done) => {
      body.resume();
      done(null);
    });
    // Sends exactly the bytes that are signed.
    fastify.setReplySerializer((payload) => canonicalJson(payload));
  }

  /** Signs `METHOD + PATH + X-API-REQUEST + BODY`: method, path and id of the call, and the body of the answer. */
  complete(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    answerWithId(request, reply);
    // The URL as sent: middleware may have shortened `url`.
    const { method, originalUrl: url, headers } = request;
    const id = headers['x-api-request'];
    const requestId = typeof id === 'string' ? id : '';
    const body = method === 'HEAD' ? '' : textOf(payload);
    void reply.headers({
      'x-api-signature': sign(this.sharedSecret, { method, url, requestId, body }),
      'cache-control': 'no-store',
    });
  }

  refuse(): Promise<HttpProblem> {
    return Promise.resolve(new HttpProblem(404, NOT_AN_ENDPOINT));
  }

  problemOf(error: unknown): HttpProblem {
    return error instanceof NotFoundException
      ? new HttpProblem(404, NOT_AN_ENDPOINT)
      : new HttpProblem(500, 'The call failed here.');
  }

  bodyOf({ message }: HttpProblem): string {
    return canonicalJson({ success: false, errorCode: 'ERR-INTERNAL', errorMessage: message });
  }

  log({ status, message }: HttpProblem, error: unknown): void {
    if (status === 500) this.logger.error({ err: error }, 'A call failed');
    // The call's content is not logged: a malformed call may hold a key anywhere.
    else this.logger.info({ reason: message }, 'A call was refused');
  }
}

function textOf(payload: unknown): string {
  if (payload === undefined || payload === null) return '';
  if (typeof payload === 'string') return payload;
  throw new PermanentError('UNSIGNABLE_BODY', 'Only texts can be signed and sent.');
}
