import { type FastifyReply } from 'fastify';
import { canonicalJson, type PartnerErrorCode } from '#libs/domain';
import { type Refusal } from '../points/refusal.js';

/** `{ success: false, errorCode, errorMessage }`, and the ids that some refusals add to it. */
export interface ErrorBody {
  readonly success: false;
  readonly errorCode: PartnerErrorCode;
  readonly errorMessage: string;
  readonly partnerTransactionId?: string;
  readonly partnerRevertId?: string;
}

export interface ErrorAnswer {
  readonly status: number;
  readonly body: ErrorBody;
}

/**
 * Whatever one of the four endpoints says is a 200, refusals and failures too: the outcome is in the envelope, and any other
 * status comes from something in between that cannot sign. The interface has no code for a malformed call: it is
 * ERR-INTERNAL like every failure that says nothing about points, with the fields in the message.
 */
export function envelopeOf({ errorCode, message, ids }: Refusal): ErrorAnswer {
  return {
    status: 200,
    body: { success: false, errorCode, errorMessage: message, ...ids },
  };
}

export function failure(errorMessage: string, status = 200): ErrorAnswer {
  return { status, body: { success: false, errorCode: 'ERR-INTERNAL', errorMessage } };
}

export const NOT_AN_ENDPOINT = failure('There is no such endpoint.', 404);

export function sendEnvelope(reply: FastifyReply, answer: ErrorAnswer): void {
  void reply
    .code(answer.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(textOf(answer));
}

/** What is sent, and so what is signed: canonical. */
export function textOf({ body }: ErrorAnswer): string {
  return canonicalJson(body);
}
