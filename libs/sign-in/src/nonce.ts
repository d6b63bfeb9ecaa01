import { applyDecorators, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Answers } from '#libs/openapi';

@ApiSchema({ name: 'Nonce' })
export class NonceBody {
  @ApiProperty({ type: 'string', pattern: '^[0-9a-f]{32}$', description: 'Good once.' })
  readonly nonce!: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  readonly expiresAt!: string;
}

/** A route that issues a nonce: `SiweVerifier.issueNonce`. */
export function NonceRoute(path: string): MethodDecorator {
  return applyDecorators(
    Post(path),
    HttpCode(200),
    ApiOperation({
      summary: 'A nonce to sign in with',
      description: 'Good once and for five minutes, in one EIP-4361 message.',
      security: [],
    }),
    Answers(200, 'The nonce.', NonceBody),
  );
}
