import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { parseUuidV7 } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { Contradiction, Refusal } from '../points/refusal.js';
import {
  envelopeOf,
  type ErrorAnswer,
  failure,
  NOT_AN_ENDPOINT,
  sendEnvelope,
} from './envelope.js';

/** The one place where an error becomes an answer; the `onSend` hook signs it like any other. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const answer = answerTo(error);
    this.log(http.getRequest<FastifyRequest>(), error, answer);
    sendEnvelope(http.getResponse<FastifyReply>(), answer);
  }

  private log(request: FastifyRequest, error: unknown, { body }: ErrorAnswer): void {
    // Nothing as it was sent: a key may be anywhere in a call that is made wrongly.
    const call = {
      route: request.routeOptions.url,
      requestId: parseUuidV7(String(request.headers['x-api-request'])),
      errorCode: body.errorCode,
      reason: body.errorMessage,
    };
    if (error instanceof Contradiction) {
      this.logger.warn({ ...call, ...error.facts }, 'A call contradicts the books');
    } else if (error instanceof Refusal || statusOf(error) < 500) {
      this.logger.info(call, 'A call was refused');
    } else this.logger.error({ ...call, err: error }, 'A call failed');
  }
}

/** What callers are told of errors of the framework, whose own messages may repeat what was sent. */
const MESSAGES: Readonly<Record<number, string>> = {
  413: 'The body is too large.',
  415: 'Content-Type must be application/json.',
};

function answerTo(error: unknown): ErrorAnswer {
  if (error instanceof Refusal) return envelopeOf(error);
  const status = statusOf(error);
  if (status === 404) return NOT_AN_ENDPOINT;
  return failure(
    status < 500 ? (MESSAGES[status] ?? 'The request is malformed.') : 'The call failed here.',
  );
}

/** Fastify puts it into `statusCode`, Nest into `status`. */
function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null) return 500;
  const { statusCode, status } = error as { statusCode?: unknown; status?: unknown };
  const found = statusCode ?? status;
  return typeof found === 'number' && found >= 400 ? found : 500;
}
