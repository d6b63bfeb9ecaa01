import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { HttpProblem, StrictPipe } from '#libs/service';
import { explainSignatureInTurns, type SignatureExplanation } from '#libs/signing';
import { ApiKeyGuard } from '../auth/admission.js';
import { SignatureQuestion } from './signature-question.dto.js';

const STRICT = new StrictPipe(
  (field, message) => new HttpProblem(400, message, { field }),
  'Send a JSON object: method, path, requestId, body, signature.',
);

/**
 * `POST /api/debug/signature`: what would be signed under the caller's shared secret, the signature, and which mistake made another
 * one. The key alone gets signatures here, without the secret, so it is there only where SIGNATURE_DEBUGGER says so.
 */
@Controller('api/debug/signature')
@UseGuards(ApiKeyGuard)
export class SignatureDebuggerController {
  @Post()
  @HttpCode(200)
  async explain(
    @Req() { admission }: FastifyRequest,
    @Body(STRICT) question: SignatureQuestion,
  ): Promise<{ readonly success: true } & SignatureExplanation> {
    const { method, path, requestId, body, signature: given } = question;
    const secret = admission?.secret ?? '';
    const asked = { method, path, requestId: requestId ?? undefined, body: body ?? '' };
    const whole = { ...asked, given: given ?? undefined, secret };
    return { success: true, ...(await explainSignatureInTurns(whole)) };
  }
}
