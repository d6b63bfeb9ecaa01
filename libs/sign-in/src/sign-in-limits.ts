/** How fast a client address may sign in, and guess tokens. */
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { addressKey, type RateLimiter, type RatePolicy, siteKey } from '#libs/cache';
import { Counter, HttpProblem, type Registry } from '#libs/service';

/** Tokens of no session, per client address. */
const GUESS: RatePolicy = { rate: 1, burst: 30 };

/** A /48 of IPv6 may be one customer or the people of a whole office: as much as so many addresses. */
const ADDRESSES_OF_A_SITE = 4;

/** A bucket that a request takes from. */
export interface Limit {
  /** The value of the label `limit`. */
  readonly name: string;
  readonly key: string;
  readonly policy: RatePolicy;
}

/** The counter of refused requests. */
export interface RefusalCount {
  readonly metric: string;
  /** All values of its label `limit`. */
  readonly limits: readonly string[];
}

/** That of the address, or of its /64, and that of its /48. */
export function addressLimits(name: string, clientAddress: string, policy: RatePolicy): Limit[] {
  const own = { name, key: `${name}:${addressKey(clientAddress)}`, policy };
  const site = siteKey(clientAddress);
  if (site === undefined) return [own];
  const wide = {
    rate: policy.rate * ADDRESSES_OF_A_SITE,
    burst: policy.burst * ADDRESSES_OF_A_SITE,
  };
  return [own, { name, key: `${name}:${site}`, policy: wide }];
}

/** All of its limits throw HttpProblem 429. */
export class SignInLimits {
  private readonly refused: Counter<'limit'>;

  constructor(
    private readonly limiter: RateLimiter,
    registry: Registry,
    { metric, limits }: RefusalCount,
    private readonly signInPolicy: RatePolicy,
  ) {
    this.refused = new Counter({
      name: metric,
      help: 'Requests refused with 429, by whose limit it was',
      labelNames: ['limit'],
      registers: [registry],
    });
    for (const limit of limits) this.refused.inc({ limit }, 0);
  }

  signIn(clientAddress: string): Promise<void> {
    return this.take(addressLimits('sign-in', clientAddress, this.signInPolicy));
  }

  /**
   * A token was looked up and is of no session. Sessions are looked up first, by their primary key, so that a client address that
   * guesses does not shut out the people who share it.
   */
  missed(clientAddress: string): Promise<void> {
    return this.take(addressLimits('guess', clientAddress, GUESS));
  }

  /** The narrowest first: what it refuses does not count for others with whom the wider ones are shared. */
  protected async take(limits: readonly Limit[]): Promise<void> {
    for (const { name, key, policy } of limits) {
      const { allowed, retryAfterSeconds } = await this.limiter.take(key, policy);
      if (allowed) continue;
      this.refused.inc({ limit: name });
      throw HttpProblem.tooManyRequests(retryAfterSeconds);
    }
  }
}

/** Before a sign-in the client's address is all that can be limited. */
@Injectable()
export class SignInLimitGuard implements CanActivate {
  constructor(private readonly limits: SignInLimits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.limits.signIn(context.switchToHttp().getRequest<FastifyRequest>().ip);
    return true;
  }
}
