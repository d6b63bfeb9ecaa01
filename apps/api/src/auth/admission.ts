/**
 * Who calls and whether they may go on: decided once for each request, before anything else looks at it. A caller with a
 * valid key is limited under its partner, everybody else under the client address, and look-ups of keys never seen before
 * count for the address too until they prove valid: guessing keys cannot load the database.
 */
import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { isApiKey } from '#libs/signing';
import { addressKey, type RateLimiter, type RatePolicy, type RateVerdict } from '#libs/cache';
import { ApiSettings } from '../api.env.js';
import { RATE_LIMITER } from '../connections.module.js';
import { type Caller, CredentialCache } from './credential-cache.js';
import { LastUse } from './last-use.js';
import { HttpProblem, problemFrom } from '#libs/service';

export interface Admission {
  /** Absent for a caller without a valid key. */
  readonly caller?: Caller;
  /** Signs the answer. */
  readonly secret: string;
  readonly verdict: RateVerdict;
  /** The answer, where the request must not go on. */
  readonly refusal?: HttpProblem;
}

/** For callers without a valid key, per client address. */
export const ANONYMOUS_POLICY: RatePolicy = { rate: 20, burst: 100 };

/** Probes and scrapers come often, from few addresses and without a key; these routes are cheap and not counted, and no others. */
const NOT_COUNTED = /^\/(?:health\/(?:live|ready|accepting)|metrics)(?:\?|$)/;

@Injectable()
export class Admissions {
  /** Requests refused so far, by whose limit it was. */
  readonly refused = { partner: 0, address: 0 };
  private readonly anonymousSecret: string;

  constructor(
    private readonly credentials: CredentialCache,
    private readonly lastUse: LastUse,
    settings: ApiSettings,
    @Inject(RATE_LIMITER) private readonly limiter: RateLimiter,
  ) {
    this.anonymousSecret = settings.apiAnonSecret ?? randomBytes(32).toString('base64url');
  }

  /** Whether the caller's key is known to be valid without a look-up. */
  knows(request: Pick<FastifyRequest, 'headers'>): boolean {
    const apiKey = apiKeyOf(request);
    return apiKey !== undefined && typeof this.credentials.peek(apiKey) === 'object';
  }

  async admit(request: Pick<FastifyRequest, 'headers' | 'raw' | 'ip'>): Promise<Admission> {
    const apiKey = apiKeyOf(request);
    const address = addressKey(request.ip);
    if (apiKey === undefined) {
      return NOT_COUNTED.test(request.raw.url ?? '') ? this.notCounted() : this.anonymous(address);
    }
    const known = this.credentials.peek(apiKey);
    if (known === 'unknown') return this.anonymous(address);
    if (known !== undefined) return this.known(known);
    return this.afterLookUp(apiKey, address);
  }

  /** For a request that could not even be read. */
  async anonymous(address: string): Promise<Admission> {
    const verdict = await this.limiter.take(`address:${address}`, ANONYMOUS_POLICY);
    return this.refusedOrNot({ secret: this.anonymousSecret, verdict });
  }

  private async known(caller: Caller): Promise<Admission> {
    this.lastUse.note(caller.credentialId);
    const verdict = await this.limiter.take(`partner:${caller.partnerId}`, caller);
    return this.refusedOrNot({ caller, secret: caller.sharedSecret, verdict });
  }

  private async afterLookUp(apiKey: string, address: string): Promise<Admission> {
    // The key of a caller that was valid a moment ago is no guess, whatever else comes from its address.
    const advance = this.credentials.wasKnown(apiKey) ? undefined : await this.anonymous(address);
    if (advance?.refusal !== undefined) return advance;
    let caller: Caller | undefined;
    try {
      caller = await this.credentials.load(apiKey);
    } catch (error) {
      return { ...(advance ?? (await this.anonymous(address))), refusal: problemFrom(error) };
    }
    if (caller === undefined) return advance ?? this.anonymous(address);
    if (advance !== undefined) await this.limiter.giveBack(`address:${address}`, ANONYMOUS_POLICY);
    return this.known(caller);
  }

  private notCounted(): Admission {
    const limit = ANONYMOUS_POLICY.burst;
    const verdict = {
      allowed: true,
      limit,
      remaining: limit,
      resetSeconds: 0,
      retryAfterSeconds: 0,
    };
    return { secret: this.anonymousSecret, verdict };
  }

  private refusedOrNot(admission: Admission): Admission {
    if (admission.verdict.allowed) return admission;
    this.refused[admission.caller === undefined ? 'address' : 'partner'] += 1;
    return {
      ...admission,
      refusal: HttpProblem.tooManyRequests(admission.verdict.retryAfterSeconds),
    };
  }
}

function apiKeyOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const header = headers['x-api-key'];
  return typeof header === 'string' && isApiKey(header) ? header : undefined;
}
