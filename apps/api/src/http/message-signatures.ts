import { Inject, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import {
  AcceptSignatureError,
  AnswerKeys,
  type MessageSignatureHeaders,
  parseAcceptSignature,
  signAnswer,
  type SignedBody,
  type WantedSignature,
} from '#libs/signing';
import { type Admission } from '../auth/admission.js';

/**
 * Makes the headers that sign one answer, from its status and its body, or from what is signed in place of the body.
 */
export type MessageSigner = (status: number, content: SignedBody) => MessageSignatureHeaders;

const MAX_HEADER = 2000;

/** Signatures that callers request by `Accept-Signature`, in addition to `X-API-SIGNATURE`. */
@Injectable()
export class MessageSignatures {
  constructor(
    private readonly answerKeys: AnswerKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @returns undefined where no signature is requested. A signature by shared secret is left out for a caller without a
   * valid key.
   * @throws HttpProblem 400
   */
  signerFor({ headers, raw }: FastifyRequest, { caller }: Admission): MessageSigner | undefined {
    const header = headers['accept-signature'];
    if (header === undefined) return undefined;
    const wanted = parsed(String(header)).filter(
      ({ algorithm }) => algorithm === 'ed25519' || caller !== undefined,
    );
    if (wanted.length === 0) return undefined;
    const { method = '', url: target = '' } = raw;
    const { answerKeys, clock } = this;
    const credential = caller && {
      keyId: caller.credentialId,
      sharedSecret: caller.sharedSecret,
    };
    return (status, content) => {
      const sent = method === 'HEAD' && 'body' in content ? { body: '' } : content;
      const moment = { nowMs: clock.nowMs(), answerKeys, ...(credential && { credential }) };
      return signAnswer({ status, method, target, ...sent }, wanted, moment);
    };
  }
}

function parsed(header: string): WantedSignature[] {
  if (header.length > MAX_HEADER) {
    throw new HttpProblem(400, `Accept-Signature has at most ${MAX_HEADER} characters.`);
  }
  try {
    return parseAcceptSignature(header);
  } catch (error) {
    if (error instanceof AcceptSignatureError) throw new HttpProblem(400, error.message);
    throw error;
  }
}
