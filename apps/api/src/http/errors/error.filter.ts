import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { type Logger } from '#libs/platform';
import { withRequestId } from '#libs/service';
import { type ApiError } from './api.error.js';
import { errorBody, JSON_TYPE } from './error-body.js';
import { toApiError } from './to-api-error.js';

/** The one place where an error becomes an answer; the `onSend` hook signs it like any other. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const answer = toApiError(error);
    // Nothing else is logged of a request: following each one through all that it awaits would be work for every answer.
    withRequestId(reply.request.id, () => {
      logFailure(this.logger, answer, error);
    });
    sendError(reply, answer);
  }
}

export function sendError(reply: FastifyReply, answer: ApiError): void {
  if (answer.retryAfterSeconds !== undefined) {
    void reply.header('retry-after', String(answer.retryAfterSeconds));
  }
  void reply.code(answer.status).header('content-type', JSON_TYPE).send(errorBody(answer));
}

/** The caller learns nothing of an unknown error; the log has all of it. */
export function logFailure(logger: Logger, answer: ApiError, error: unknown): void {
  if (answer.status === 500) logger.error({ err: error }, 'A request failed');
  else if (answer.status === 503 && answer.cause !== undefined) {
    logger.warn({ err: answer.cause }, 'A request could not be served');
  }
}
