import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { type Logger } from '#libs/platform';
import { toUserError } from './to-user-error.js';
import { type UserError } from './user.error.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The one place where an error becomes an answer. The user learns nothing of an unknown error; the log has all of it. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const answer = toUserError(error);
    if (answer.status === 500) this.logger.error({ err: error }, 'A request failed');
    else if (answer.status === 503 && answer.cause !== undefined) {
      this.logger.warn({ err: answer.cause }, 'A request could not be served');
    }
    sendError(host.switchToHttp().getResponse<FastifyReply>(), answer);
  }
}

export function sendError(reply: FastifyReply, answer: UserError): void {
  const { status, retryAfterSeconds } = answer;
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds));
  void reply.code(status).header('content-type', JSON_TYPE).send(errorBody(answer));
}

export function errorBody({ code, message, field }: UserError): string {
  return JSON.stringify({ success: false, code, message, ...(field !== undefined && { field }) });
}
