import { Controller, Get } from '@nestjs/common';
import { AnswerKeys, type PublicAnswerKey } from '#libs/signing';

/** The public keys of our answers as a JSON Web Key Set (RFC 7517): for anyone, without an API key. */
@Controller('.well-known/http-message-signatures-directory')
export class AnswerKeysController {
  constructor(private readonly answerKeys: AnswerKeys) {}

  @Get()
  read(): { readonly keys: readonly PublicAnswerKey[] } {
    return { keys: this.answerKeys.published };
  }
}
