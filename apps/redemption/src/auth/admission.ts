/** Admission of requests: the session says who asks, and rate limits say how often. */
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
    /** Wallet of the session; set by SessionGuard. */
    wallet?: Address;
  }
}

/** Sign-ins per client address. */
const SIGN_IN: RatePolicy = { rate: 1, burst: 10 };
/** All requests of a client address, for any number of wallets; sign-ins are not counted. */
const ADDRESS: RatePolicy = { rate: 20, burst: 100 };
/** Requests that call a partner, per client address. */
const ADDRESS_CALLS: RatePolicy = { rate: 2, burst: 30 };
/** All requests of a wallet. */
const WALLET: RatePolicy = { rate: 5, burst: 20 };
/** Reads of points, per wallet. */
const POINTS: RatePolicy = { rate: 0.5, burst: 5 };
/** Requests for a redemption, per wallet. */
const REDEEM: RatePolicy = { rate: 0.2, burst: 10 };

const REFUSED = {
  metric: 'lowmark_rate_limited_total',
  limits: ['body', 'sign-in', 'guess', 'address', 'calls', 'wallet', 'points', 'redeem'],
};

/** The rate limits of users. All methods throw HttpProblem 429. */
@Injectable()
export class RequestLimits extends SignInLimits {
  constructor(@Inject(RATE_LIMITER) limiter: RateLimiter, registry: Registry) {
    super(limiter, registry, REFUSED, SIGN_IN);
  }

  /** For any request with a session. */
  async request(wallet: Address, clientAddress: string): Promise<void> {
    const address = addressLimits('address', clientAddress, ADDRESS);
    await this.take([{ name: 'wallet', key: `wallet:${wallet}`, policy: WALLET }, ...address]);
  }

  /** For requests that need no session. */
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

/** Admits requests with a session, within the rate limits of the wallet and of the client address. */
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

/** Puts all routes of a controller behind SessionGuard. */
export function ForSignedIn(): ClassDecorator {
  return applyDecorators(
    Fails(401, 'There is no such session, or it has expired.', 'UNAUTHORIZED'),
    FailsAnywhere(),
    ApiSecurity('session'),
    UseGuards(SessionGuard),
  );
}

/** Rate limits of redemptions, per wallet and per client address. Needs SessionGuard before it. */
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

/** The wallet of the session. Needs SessionGuard before it. */
export const Wallet = createParamDecorator((_: unknown, context: ExecutionContext): Address => {
  const { wallet } = context.switchToHttp().getRequest<FastifyRequest>();
  if (wallet === undefined) throw new PermanentError('NO_GUARD', 'The route lacks SessionGuard.');
  return wallet;
});
