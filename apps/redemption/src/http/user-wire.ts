import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import {
  answerWithId,
  ClientErrors,
  type HttpProblem,
  type HttpWire,
  JSON_TYPE,
  REQUEST_ID_HEADER,
} from '#libs/service';
import { type SignInLimits } from '#libs/sign-in';
import { toUserError } from './user.error.js';

/**
 * The signature of a contract wallet that is not deployed yet carries its deployment (EIP-6492); all other bodies are
 * far below 1 KiB.
 */
export const MAX_BODY_BYTES = 16 * 1024;

/** Answers are not cached: each of them belongs to one wallet. */
const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** JSON in, JSON out, and every error in the same envelope. */
export class UserWire implements HttpWire {
  readonly problemOf = toUserError;

  readonly clientErrors = new ClientErrors(({ status, requestId }) => ({
    status,
    headers: { ...COMMON_HEADERS, [REQUEST_ID_HEADER]: requestId, 'content-type': JSON_TYPE },
    body: this.bodyOf(toUserError({ statusCode: status })),
  }));

  constructor(private readonly limits: SignInLimits) {}

  configure(fastify: FastifyInstance): void {
    this.limits.countBodies(fastify);
  }

  complete(request: FastifyRequest, reply: FastifyReply): void {
    answerWithId(request, reply);
    void reply.headers(COMMON_HEADERS);
  }

  bodyOf({ code, message, field }: HttpProblem): string {
    return JSON.stringify({ success: false, code, message, ...(field !== undefined && { field }) });
  }
}
