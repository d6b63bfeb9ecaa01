/** Limits on bodies, on sign-ins and on guesses of tokens, by client address. */
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { addressKey, type RateLimiter, type RatePolicy, siteKey } from '#libs/cache';
import { Counter, HttpProblem, type Registry } from '#libs/service';

/** Limit on tokens that belong to no session, per client address. */
const GUESS: RatePolicy = { rate: 1, burst: 30 };

/** Requests with a body of a client address, with a session or without one. */
const BODY: RatePolicy = { rate: 20, burst: 100 };

/** How many addresses a /48 of IPv6 counts as, since it may be one customer or a whole office. */
const ADDRESSES_OF_A_SITE = 4;

/** A rate limit that a request counts against. */
export interface Limit {
  /** Value of the label `limit`. */
  readonly name: string;
  readonly key: string;
  readonly policy: RatePolicy;
}

export interface RefusalCount {
  readonly metric: string;
  /** All values of the label `limit`. */
  readonly limits: readonly string[];
}

/** The limit of the address (of its /64 for IPv6) and, for IPv6, that of its /48. */
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

/** Every limit throws HttpProblem 429. */
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

  /** Counts each body before it is read, because guards run after it was parsed. Runs after the hook of CORS. */
  countBodies(fastify: FastifyInstance): void {
    fastify.addHook('preParsing', async ({ headers, ip }, _reply, body) => {
      const hasBody =
        headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
      if (hasBody) await this.take(addressLimits('body', ip, BODY));
      return body;
    });
  }

  signIn(clientAddress: string): Promise<void> {
    return this.take(addressLimits('sign-in', clientAddress, this.signInPolicy));
  }

  /**
   * Counts a token that belongs to no session. Sessions are looked up first, by primary key, so that guesses from a
   * client address do not shut out other people who share the address.
   */
  missed(clientAddress: string): Promise<void> {
    return this.take(addressLimits('guess', clientAddress, GUESS));
  }

  /** The narrowest limit comes first: a request that it refuses does not count against the limits that others share. */
  protected async take(limits: readonly Limit[]): Promise<void> {
    for (const { name, key, policy } of limits) {
      const { allowed, retryAfterSeconds } = await this.limiter.take(key, policy);
      if (allowed) continue;
      this.refused.inc({ limit: name });
      throw HttpProblem.tooManyRequests(retryAfterSeconds);
    }
  }
}

/** Limits sign-ins by client address, since nothing else is known of the caller before a sign-in. */
@Injectable()
export class SignInLimitGuard implements CanActivate {
  constructor(private readonly limits: SignInLimits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.limits.signIn(context.switchToHttp().getRequest<FastifyRequest>().ip);
    return true;
  }
}
