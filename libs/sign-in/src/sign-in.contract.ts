/** The contract of sign-in by a wallet: its routes, and the fields of requests and answers. */
import { applyDecorators, HttpCode, Post, type Type } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsString, Matches, MaxLength } from 'class-validator';
import { Answers, Fails } from '#libs/openapi';
import { SIWE_CODES } from './siwe-verifier.js';

/** In characters. EIP-4361 sets no limit. */
const LONGEST_MESSAGE = 4096;
const TEXT = { message: '$property must be a text.' };

@ApiSchema({ name: 'Nonce' })
export class NonceBody {
  @ApiProperty({ type: 'string', pattern: '^[0-9a-f]{32}$', description: 'Good once.' })
  readonly nonce!: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  readonly expiresAt!: string;
}

/** A route for `SiweVerifier.issueNonce`. @param description says for how long the nonce is good */
export function NonceRoute(path: string, description: string): MethodDecorator {
  return applyDecorators(
    Post(path),
    HttpCode(200),
    ApiOperation({
      summary: 'A nonce to sign in with',
      description,
      security: [],
    }),
    Answers(200, 'The nonce.', NonceBody),
  );
}

/** The field for the message of `SiweVerifier.verify`. */
export function MessageField(): PropertyDecorator {
  const description = 'An EIP-4361 message, exactly as it was signed.';
  return applyDecorators(
    ApiProperty({ type: 'string', description }),
    IsString(TEXT),
    MaxLength(LONGEST_MESSAGE, { message: '$property is too long.' }),
  );
}

/** @param must completes the refusal "$property must be …" */
export function SignatureField(pattern: RegExp, must: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'string', pattern: pattern.source }),
    IsString(TEXT),
    Matches(pattern, { message: `$property must be ${must}.` }),
  );
}

/** A route that opens a session after `SiweVerifier.verify`. */
export function WalletSignInRoute(
  path: string,
  session: Type,
  description: string,
): MethodDecorator {
  return applyDecorators(
    Post(path),
    HttpCode(200),
    ApiOperation({ summary: 'Sign in by a wallet', description, security: [] }),
    Answers(200, 'The session.', session),
    Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST'),
    Fails(401, 'The message signs no one in; the code says which part of it.', ...SIWE_CODES),
  );
}
