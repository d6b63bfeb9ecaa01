import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
} from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { SessionStore } from '#libs/db';
import { type Address, PermanentError } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { RequestLimits } from '../http/request-limits.js';
import { UserError } from '../http/user.error.js';
import { bearerHash } from './session-token.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose session it is; set by SessionGuard. */
    wallet?: Address;
  }
}

/** Lets users through who are signed in, at the pace of their wallet and of their client address. */
@Injectable()
export class SessionGuard implements CanActivate {
  constructor(
    private readonly sessions: SessionStore,
    private readonly limits: RequestLimits,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws UserError 401, 429; DatabaseUnavailableError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const tokenHash = bearerHash(request.headers.authorization);
    if (tokenHash === undefined) throw UserError.unauthorized();
    await this.limits.guess(request.ip);
    const wallet = await this.sessions.find(tokenHash, this.clock.nowMs());
    if (wallet === undefined) throw UserError.sessionEnded();
    await this.limits.known(request.ip);
    await this.limits.request(wallet, request.ip);
    request.wallet = wallet;
    return true;
  }
}

/** The wallet that is signed in, behind SessionGuard. */
export const Wallet = createParamDecorator((_: unknown, context: ExecutionContext): Address => {
  const { wallet } = context.switchToHttp().getRequest<FastifyRequest>();
  if (wallet === undefined) throw new PermanentError('NO_GUARD', 'The route lacks SessionGuard.');
  return wallet;
});
