import { applyDecorators, HttpCode, Post } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Answers } from '#libs/openapi';
import { NonceBody } from './nonce.dto.js';

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
