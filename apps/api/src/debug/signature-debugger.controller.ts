import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { explainSignature, type SignatureExplanation } from '#libs/signing';
import { ApiKeyGuard, unauthorized } from '../http/keys/api-key.guard.js';
import { type AskedSignature, SignatureQuestionPipe } from './signature-question.pipe.js';
import {} from '#libs/service';

/**
 * `POST /api/debug/signature`: what would be signed under the caller's shared secret, the signature, and which mistake made another
 * one. The key alone gets signatures here, without the secret, so it is there only where SIGNATURE_DEBUGGER says so.
 */
@Controller('api/debug/signature')
@UseGuards(ApiKeyGuard)
export class SignatureDebuggerController {
  @Post()
  @HttpCode(200)
  explain(
    @Req() { admission }: FastifyRequest,
    @Body(SignatureQuestionPipe) question: AskedSignature,
  ): { readonly success: true } & SignatureExplanation {
    if (admission?.caller === undefined) throw unauthorized();
    return { success: true, ...explainSignature({ ...question, secret: admission.secret }) };
  }
}
