import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { type Logger } from '#libs/platform';
import { withRequestId } from '../request-id/request-id.js';
import { type HttpProblem } from './http-problem.js';
import { type HttpWire } from './http-wire.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Converts errors to answers. The caller gets no details of an unknown error; the log gets all of them. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly wire: HttpWire,
    private readonly logger: Logger,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const problem = this.wire.problemOf(error);
    // Sets the request id again, since with `followsRequests` off the request is not followed through every await.
    withRequestId(reply.request.id, () => {
      if (this.wire.log === undefined) logProblem(this.logger, problem, error);
      else this.wire.log(problem, error);
    });
    sendProblem(reply, problem, this.wire.bodyOf(problem));
  }
}

export function sendProblem(reply: FastifyReply, problem: HttpProblem, body: string): void {
  const { status, retryAfterSeconds } = problem;
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds));
  void reply.code(status).header('content-type', JSON_TYPE).send(body);
}

function logProblem(logger: Logger, { status, cause }: HttpProblem, error: unknown): void {
  if (status === 500) logger.error({ err: error }, 'A request failed');
  else if (status === 503 && cause !== undefined) {
    logger.warn({ err: cause }, 'A request could not be served');
  }
}
