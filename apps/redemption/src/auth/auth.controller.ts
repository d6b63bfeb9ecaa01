import { Body, Controller, Headers, HttpCode, Post, UseGuards } from '@nestjs/common';
import { requireFields, textField } from '../http/fields.js';
import { UserError } from '../http/user.error.js';
import { AuthService, type NewSession } from './auth.service.js';
import { bearerHash } from './session-token.js';
import { SignInLimitGuard } from './sign-in-limit.guard.js';

const SIGNATURE = /^0x(?:[0-9a-fA-F]{2})+$/;

/** Signing in and out; see `docs/wire/redemption.md`. */
@Controller('api/auth')
@UseGuards(SignInLimitGuard)
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  @Post('nonce')
  @HttpCode(200)
  nonce(): Promise<{ nonce: string; expiresAt: string }> {
    return this.auth.issueNonce();
  }

  @Post('verify')
  @HttpCode(200)
  verify(@Body() body: unknown): Promise<NewSession> {
    const fields = requireFields(body);
    const message = textField(fields, 'message');
    const signature = textField(fields, 'signature');
    if (!SIGNATURE.test(signature)) {
      throw UserError.badRequest('signature', 'signature must be 0x and hex digits.');
    }
    return this.auth.verify({ message, signature });
  }

  @Post('logout')
  @HttpCode(204)
  async logOut(@Headers('authorization') authorization?: string): Promise<void> {
    const tokenHash = bearerHash(authorization);
    if (tokenHash !== undefined) await this.auth.logOut(tokenHash);
  }
}
