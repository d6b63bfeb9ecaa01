import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { Matches, MaxLength, MinLength } from 'class-validator';
import { type FastifyRequest } from 'fastify';
import { BodyLimit, HttpProblem, MayBeAbsent, StrictPipe } from '#libs/service';
import {
  explainSignatureInTurns,
  LONGEST_QUESTION_BODY,
  LONGEST_QUESTION_BYTES,
  type SignatureExplanation,
} from '#libs/signing';
import { ApiKeyGuard } from '../auth/admission.js';

const LONGEST = 2048;
const limitedTo = (most: number) => ({
  message: ({ property }: { readonly property: string }): string =>
    `${property} must be a text of at most ${most} characters, or left out.`,
});
const LIMITED = limitedTo(LONGEST);
const METHOD = { message: 'method must be given, such as GET.' };
const PATH = { message: 'path must be given: that of the URL as it was sent.' };

/** All fields are strings. `body` is the body as it was sent, as a string and not as JSON. */
class SignatureQuestion {
  @Matches(/^[A-Za-z]{1,20}$/, METHOD)
  readonly method!: string;

  @MinLength(1, PATH)
  @MaxLength(LONGEST, LIMITED)
  readonly path!: string;

  @MayBeAbsent()
  @MaxLength(LONGEST, LIMITED)
  readonly requestId?: string;

  @MayBeAbsent()
  @MaxLength(LONGEST_QUESTION_BODY, limitedTo(LONGEST_QUESTION_BODY))
  readonly body?: string;

  @MayBeAbsent()
  @MaxLength(LONGEST, LIMITED)
  readonly signature?: string;
}

const STRICT = new StrictPipe(
  (field, message) => new HttpProblem(400, message, { field }),
  'Send a JSON object: method, path, requestId, body, signature.',
);

/**
 * `POST /api/debug/signature`: the content to sign under the caller's shared secret, the signature, and the mistake
 * that explains a wrong signature. This route gives signatures to a caller that has only the API key and not the
 * secret, so it exists only where SIGNATURE_DEBUGGER enables it.
 */
@Controller('api/debug/signature')
@UseGuards(ApiKeyGuard)
export class SignatureDebuggerController {
  @Post()
  @HttpCode(200)
  @BodyLimit(LONGEST_QUESTION_BYTES)
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
