import { type ArgumentsHost, Catch, type ExceptionFilter, NotFoundException } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { canonicalJson } from '#libs/partner-sdk';
import { type Logger } from '#libs/platform';

export const NOT_AN_ENDPOINT = envelope('There is no such endpoint.');
const FAILED = envelope('The call failed here.');

/** What is none of the four endpoints, in their envelope; the `onSend` hook signs it. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (error instanceof NotFoundException) {
      // Nothing as it was sent: a key may be anywhere in a call that is made wrongly.
      this.logger.info({ reason: NOT_AN_ENDPOINT.errorMessage }, 'A call was refused');
      sendEnvelope(reply, { status: 404, envelope: NOT_AN_ENDPOINT });
    } else {
      this.logger.error({ err: error }, 'A call failed');
      sendEnvelope(reply, { status: 500, envelope: FAILED });
    }
  }
}

/** What is sent is what is signed: canonical. */
export function textOf(envelope: Envelope): string {
  return canonicalJson(envelope);
}

export function sendEnvelope(
  reply: FastifyReply,
  { status, envelope }: { readonly status: number; readonly envelope: Envelope },
): void {
  void reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(textOf(envelope));
}

interface Envelope {
  readonly success: false;
  readonly errorCode: 'ERR-INTERNAL';
  readonly errorMessage: string;
}

function envelope(errorMessage: string): Envelope {
  return { success: false, errorCode: 'ERR-INTERNAL', errorMessage };
}
