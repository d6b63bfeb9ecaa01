import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { addressKey, type RateLimiter, type RatePolicy, siteKey } from '#libs/cache';
import { Counter, HttpProblem, Registry } from '#libs/service';
import { RATE_LIMITER } from '../connections.module.js';

/** Per client address: signing in, and session tokens that turn out to be of no session. */
const POLICIES = {
  'sign-in': { rate: 1, burst: 20 },
  guess: { rate: 1, burst: 30 },
} as const satisfies Record<string, RatePolicy>;
type LimitName = keyof typeof POLICIES;

/** A /48 of IPv6 may be the people of a whole office. */
const ADDRESSES_OF_A_SITE = 4;

/** How fast a client address may guess. */
@Injectable()
export class SignInLimits {
  private readonly refused: Counter<'limit'>;

  constructor(
    @Inject(RATE_LIMITER) private readonly limiter: RateLimiter,
    registry: Registry,
  ) {
    this.refused = new Counter({
      name: 'lowmark_console_rate_limited_total',
      help: 'Requests to the console refused with 429, by whose limit it was',
      labelNames: ['limit'],
      registers: [registry],
    });
  }

  /** @throws HttpProblem 429 */
  async take(name: LimitName, clientAddress: string): Promise<void> {
    for (const { key, policy } of limitsOf(name, clientAddress)) {
      const { allowed, retryAfterSeconds } = await this.limiter.take(key, policy);
      if (allowed) continue;
      this.refused.inc({ limit: name });
      throw HttpProblem.tooManyRequests(retryAfterSeconds);
    }
  }

  /** It was no guess. */
  async giveBack(name: LimitName, clientAddress: string): Promise<void> {
    for (const { key, policy } of limitsOf(name, clientAddress)) {
      await this.limiter.giveBack(key, policy);
    }
  }
}

/** That of the address, or of its /64, and that of its /48. */
function limitsOf(name: LimitName, clientAddress: string) {
  const policy: RatePolicy = POLICIES[name];
  const own = { key: `${name}:${addressKey(clientAddress)}`, policy };
  const site = siteKey(clientAddress);
  if (site === undefined) return [own];
  const [rate, burst] = [policy.rate * ADDRESSES_OF_A_SITE, policy.burst * ADDRESSES_OF_A_SITE];
  return [own, { key: `${name}:${site}`, policy: { rate, burst } }];
}

/** Before a sign-in the client's address is all that can be limited. */
@Injectable()
export class SignInLimitGuard implements CanActivate {
  constructor(private readonly limits: SignInLimits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.limits.take('sign-in', context.switchToHttp().getRequest<FastifyRequest>().ip);
    return true;
  }
}
