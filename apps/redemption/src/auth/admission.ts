/** Who asks, by the session, and how often they may. */
import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  UseGuards,
} from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import { type RateLimiter, type RatePolicy } from '#libs/cache';
import { SessionStore } from '#libs/db';
import { type Address, PermanentError } from '#libs/domain';
import { Fails, FailsAnywhere } from '#libs/openapi';
import { CLOCK, type Clock } from '#libs/platform';
import { Registry } from '#libs/service';
import { addressLimits, SignInLimits } from '#libs/sign-in';
import { RATE_LIMITER } from '../connections.module.js';
import { UserError } from '../http/user.error.js';
import { bearerHash } from './auth.service.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose session it is; set by SessionGuard. */
    wallet?: Address;
  }
}

/** Signing in, per client address. */
const SIGN_IN: RatePolicy = { rate: 1, burst: 10 };
/** All that is asked for from one client address, however many wallets there are, but for the signing in. */
const ADDRESS: RatePolicy = { rate: 20, burst: 100 };
/** What calls a partner, per client address. */
const ADDRESS_CALLS: RatePolicy = { rate: 2, burst: 30 };
/** Whatever a wallet asks for. */
const WALLET: RatePolicy = { rate: 5, burst: 20 };
/** Reading points, per wallet. */
const POINTS: RatePolicy = { rate: 0.5, burst: 5 };
/** Asking for a redemption, per wallet. */
const REDEEM: RatePolicy = { rate: 0.2, burst: 10 };

const REFUSED = {
  metric: 'lowmark_rate_limited_total',
  limits: ['sign-in', 'guess', 'address', 'calls', 'wallet', 'points', 'redeem'],
};

/** How fast users may go. All of these throw HttpProblem 429. */
@Injectable()
export class RequestLimits extends SignInLimits {
  constructor(@Inject(RATE_LIMITER) limiter: RateLimiter, registry: Registry) {
    super(limiter, registry, REFUSED, SIGN_IN);
  }

  /** Of a user who is signed in, whatever is asked. */
  async request(wallet: Address, clientAddress: string): Promise<void> {
    const address = addressLimits('address', clientAddress, ADDRESS);
    await this.take([{ name: 'wallet', key: `wallet:${wallet}`, policy: WALLET }, ...address]);
  }

  /** Of users and of those who have not signed in. */
  anyone(clientAddress: string): Promise<void> {
    return this.take(addressLimits('address', clientAddress, ADDRESS));
  }

  async points(wallet: Address, clientAddress: string): Promise<void> {
    const address = addressLimits('calls', clientAddress, ADDRESS_CALLS);
    await this.take([{ name: 'points', key: `points:${wallet}`, policy: POINTS }, ...address]);
  }

  async redeem(wallet: Address, clientAddress: string): Promise<void> {
    const address = addressLimits('calls', clientAddress, ADDRESS_CALLS);
    await this.take([{ name: 'redeem', key: `redeem:${wallet}`, policy: REDEEM }, ...address]);
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
    const wallet = await this.sessions.find(tokenHash, this.clock.nowMs());
    if (wallet === undefined) {
      await this.limits.missed(request.ip);
      throw UserError.sessionEnded();
    }
    await this.limits.request(wallet, request.ip);
    request.wallet = wallet;
    return true;
  }
}

/** Of a controller: all of it is behind SessionGuard. */
export function ForSignedIn(): ClassDecorator {
  return applyDecorators(
    Fails(401, 'There is no such session, or it has expired.', 'UNAUTHORIZED'),
    FailsAnywhere(),
    ApiSecurity('session'),
    UseGuards(SessionGuard),
  );
}

/** How often a wallet, and a client address, may ask for a redemption. Behind SessionGuard. */
@Injectable()
export class RedeemLimitGuard implements CanActivate {
  constructor(private readonly limits: RequestLimits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { wallet, ip } = context.switchToHttp().getRequest<FastifyRequest>();
    if (wallet === undefined) throw UserError.unauthorized();
    await this.limits.redeem(wallet, ip);
    return true;
  }
}

/** The wallet that is signed in, behind SessionGuard. */
export const Wallet = createParamDecorator((_: unknown, context: ExecutionContext): Address => {
  const { wallet } = context.switchToHttp().getRequest<FastifyRequest>();
  if (wallet === undefined) throw new PermanentError('NO_GUARD', 'The route lacks SessionGuard.');
  return wallet;
});
