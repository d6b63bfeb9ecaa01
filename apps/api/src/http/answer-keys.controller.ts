import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiSchema } from '@nestjs/swagger';
import { Field } from '#libs/openapi';
import { AnswerKeys, type PublicAnswerKey } from '#libs/signing';
import { COMMON_HEADERS } from './contract.js';

const Only = (word: string) => Field.field({ type: 'string', enum: [word] })();
const Thumbprint = Field.field({ type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' });

@ApiSchema({ name: 'AnswerKey' })
class AnswerKeyBody implements PublicAnswerKey {
  @Only('OKP') readonly kty!: 'OKP';
  @Only('Ed25519') readonly crv!: 'Ed25519';
  @Only('sig') readonly use!: 'sig';
  @Thumbprint('The `keyid` of what it signs (RFC 7638).') readonly kid!: string;
  @Thumbprint('The public key, 32 bytes in base64url.') readonly x!: string;
}

@ApiSchema({ name: 'AnswerKeys' })
class AnswerKeysBody {
  @Field.ListOf(AnswerKeyBody, 'The one that signs first, then those that signed before it.')
  readonly keys!: readonly PublicAnswerKey[];
}

/** The public keys that sign answers, as a JSON Web Key Set (RFC 7517). Needs no API key. */
@Controller('.well-known/http-message-signatures-directory')
export class AnswerKeysController {
  constructor(private readonly answerKeys: AnswerKeys) {}

  @Get()
  @ApiOperation({
    operationId: 'readAnswerKeys',
    summary: 'The public keys by which answers are signed',
    description:
      'A JSON Web Key Set (RFC 7517) of Ed25519 keys, without an API key. See Accept-Signature.',
    security: [],
  })
  @ApiResponse({
    status: 200,
    description: 'The keys.',
    headers: COMMON_HEADERS,
    type: AnswerKeysBody,
  })
  read(): AnswerKeysBody {
    return { keys: this.answerKeys.published };
  }
}
