import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiSecurity } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import { Answers, Fails, FailsAnywhere } from '#libs/openapi';
import { SignInLimitGuard } from './admission.js';
import { NonceBody, SessionBody, SignedMessage } from './auth.dto.js';
import { AuthService, bearerHash } from './auth.service.js';

/** Signing in and out; see `docs/wire/redemption.md`. */
@Controller('api/auth')
@UseGuards(SignInLimitGuard)
@FailsAnywhere()
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  @Post('nonce')
  @HttpCode(200)
  @ApiOperation({
    summary: 'A nonce to sign in with',
    description: 'Good once and for five minutes, in one EIP-4361 message.',
    security: [],
  })
  @Answers(200, 'The nonce.', NonceBody)
  nonce(): Promise<NonceBody> {
    return this.auth.issueNonce();
  }

  @Post('verify')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Sign in with Ethereum',
    description:
      'Checks an EIP-4361 message and its signature: by an account, by a contract wallet (EIP-1271), or by one that does not exist yet (EIP-6492).',
    security: [],
  })
  @Answers(200, 'The session. Send its token as Authorization: Bearer.', SessionBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(
    401,
    'The message does not sign anybody in; the code says which part of it.',
    ...['SIWE_DOMAIN', 'SIWE_URI', 'SIWE_CHAIN_ID', 'SIWE_EXPIRED', 'SIWE_NOT_BEFORE'],
    ...['SIWE_ISSUED_AT', 'SIWE_SIGNATURE', 'SIWE_NONCE'],
  )
  verify(@Body() message: SignedMessage): Promise<SessionBody> {
    return this.auth.verify(message);
  }

  @Post('logout')
  @HttpCode(204)
  @ApiSecurity('session')
  @ApiOperation({
    summary: 'Sign out',
    description: 'Ends the session of the token; done as well where there is none.',
  })
  @Answers(204, 'Signed out.')
  async logOut(@Req() { headers }: FastifyRequest): Promise<void> {
    const tokenHash = bearerHash(headers.authorization);
    if (tokenHash !== undefined) await this.auth.logOut(tokenHash);
  }
}
