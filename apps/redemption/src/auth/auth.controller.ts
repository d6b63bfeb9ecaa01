import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiSecurity } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import { Answers, FailsAnywhere } from '#libs/openapi';
import {
  type NonceBody,
  NonceRoute,
  SignInLimitGuard,
  SiweVerifier,
  WalletSignInRoute,
} from '#libs/sign-in';
import { SessionBody, SignedMessage } from './auth.dto.js';
import { AuthService, bearerHash } from './auth.service.js';

/** Signing in and out; see `docs/wire/redemption.md`. */
@Controller('api/auth')
@UseGuards(SignInLimitGuard)
@FailsAnywhere()
export class AuthController {
  constructor(
    private readonly siwe: SiweVerifier,
    private readonly auth: AuthService,
  ) {}

  @NonceRoute(
    'nonce',
    'Good once, in one EIP-4361 message. An account has to sign within five minutes, a contract wallet until `expiresAt`.',
  )
  nonce(): Promise<NonceBody> {
    return this.siwe.issueNonce();
  }

  @WalletSignInRoute(
    'verify',
    SessionBody,
    'An EIP-4361 message and its signature: by an account, by a contract wallet (EIP-1271; 0x if it signed on chain), or by one that does not exist yet (EIP-6492). Send the token of the session as Authorization: Bearer.',
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
