/** Who is signed in, by the bearer token of a session: opaque, unguessable, and known by its hash only. */
import { createHash, randomBytes } from 'node:crypto';
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

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose session it is; set by SessionGuard. */
    wallet?: Address;
  }
}

const BEARER = /^Bearer (svct_[A-Za-z0-9_-]{43})$/i;

export function mintSessionToken(): string {
  return `svct_${randomBytes(32).toString('base64url')}`;
}

/** SHA-256: the token has 256 random bits, so a slow hash would add nothing. */
export function hashSessionToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** @param header Authorization, whatever was sent; undefined where it does not hold a token of ours */
export function bearerHash(header: string | undefined): Buffer | undefined {
  const token = BEARER.exec(header ?? '')?.[1];
  return token === undefined ? undefined : hashSessionToken(token);
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
