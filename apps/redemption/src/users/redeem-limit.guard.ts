import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { RequestLimits } from '../http/request-limits.js';
import { UserError } from '../http/user.error.js';

/** How often a wallet, and a client address, may ask for a redemption. Behind SessionGuard. */
@Injectable()
export class RedeemLimitGuard implements CanActivate {
  constructor(private readonly limits: RequestLimits) {}

  /** @throws UserError 429 */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { wallet, ip } = context.switchToHttp().getRequest<FastifyRequest>();
    if (wallet === undefined) throw UserError.unauthorized();
    await this.limits.redeem(wallet, ip);
    return true;
  }
}
