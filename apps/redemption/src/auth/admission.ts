/** Who asks, by the session, and how often they may. */
import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
} from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { addressKey, type RateLimiter, type RatePolicy, siteKey } from '#libs/cache';
import { SessionStore } from '#libs/db';
import { type Address, PermanentError } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { Counter, HttpProblem, Registry } from '#libs/service';
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
/** Tokens that turn out to be of no session, per client address: guessing them cannot load the database. */
const GUESS: RatePolicy = { rate: 1, burst: 30 };
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

/** The values of the label `limit` of lowmark_rate_limited_total. */
const LIMITS = ['sign-in', 'guess', 'address', 'calls', 'wallet', 'points', 'redeem'] as const;
type LimitName = (typeof LIMITS)[number];

/** A /48 of IPv6 may be one customer or the users of a whole office: as much as so many addresses. */
const ADDRESSES_OF_A_SITE = 4;

/** How fast users may go. All of these throw HttpProblem 429. */
@Injectable()
export class RequestLimits {
  private readonly refused: Counter<'limit'>;

  constructor(
    @Inject(RATE_LIMITER) private readonly limiter: RateLimiter,
    registry: Registry,
  ) {
    this.refused = new Counter({
      name: 'lowmark_rate_limited_total',
      help: 'Requests refused with 429, by whose limit it was',
      labelNames: ['limit'],
      registers: [registry],
    });
    for (const limit of LIMITS) this.refused.inc({ limit }, 0);
  }

  signIn(clientAddress: string): Promise<void> {
    return this.takeOf('sign-in', clientAddress, SIGN_IN);
  }

  guess(clientAddress: string): Promise<void> {
    return this.takeOf('guess', clientAddress, GUESS);
  }

  /** It was no guess. */
  async known(clientAddress: string): Promise<void> {
    for (const { key, policy } of limitsOf('guess', clientAddress, GUESS)) {
      await this.limiter.giveBack(key, policy);
    }
  }

  /** Of a user who is signed in, whatever is asked. */
  async request(wallet: Address, clientAddress: string): Promise<void> {
    const address = limitsOf('address', clientAddress, ADDRESS);
    await this.take([{ name: 'wallet', key: `wallet:${wallet}`, policy: WALLET }, ...address]);
  }

  /** Of users and of those who have not signed in. */
  anyone(clientAddress: string): Promise<void> {
    return this.takeOf('address', clientAddress, ADDRESS);
  }

  async points(wallet: Address, clientAddress: string): Promise<void> {
    const address = limitsOf('calls', clientAddress, ADDRESS_CALLS);
    await this.take([{ name: 'points', key: `points:${wallet}`, policy: POINTS }, ...address]);
  }

  async redeem(wallet: Address, clientAddress: string): Promise<void> {
    const address = limitsOf('calls', clientAddress, ADDRESS_CALLS);
    await this.take([{ name: 'redeem', key: `redeem:${wallet}`, policy: REDEEM }, ...address]);
  }

  private takeOf(what: LimitName, clientAddress: string, policy: RatePolicy): Promise<void> {
    return this.take(limitsOf(what, clientAddress, policy));
  }

  /** The narrowest first: what it refuses does not count for others with whom the wider ones are shared. */
  private async take(limits: readonly Limit[]): Promise<void> {
    for (const { name, key, policy } of limits) {
      const { allowed, retryAfterSeconds } = await this.limiter.take(key, policy);
      if (allowed) continue;
      this.refused.inc({ limit: name });
      throw HttpProblem.tooManyRequests(retryAfterSeconds);
    }
  }
}

interface Limit {
  readonly name: LimitName;
  readonly key: string;
  readonly policy: RatePolicy;
}

/** That of the address, or of its /64, and that of its /48. */
function limitsOf(what: LimitName, clientAddress: string, policy: RatePolicy): Limit[] {
  const own = { name: what, key: `${what}:${addressKey(clientAddress)}`, policy };
  const site = siteKey(clientAddress);
  if (site === undefined) return [own];
  const wide = {
    rate: policy.rate * ADDRESSES_OF_A_SITE,
    burst: policy.burst * ADDRESSES_OF_A_SITE,
  };
  return [own, { name: what, key: `${what}:${site}`, policy: wide }];
}

/** Before the sign-in the client's address is all that can be limited. */
@Injectable()
export class SignInLimitGuard implements CanActivate {
  constructor(private readonly limits: RequestLimits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.limits.signIn(context.switchToHttp().getRequest<FastifyRequest>().ip);
    return true;
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
