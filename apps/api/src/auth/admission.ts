import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { addressKey, type RateLimiter, type RatePolicy, type RateVerdict } from '#libs/cache';
import { HttpProblem, problemFrom } from '#libs/service';
import { isApiKey, isGrant, KeyRing } from '#libs/signing';
import { ApiSettings } from '../api.env.js';
import { RATE_LIMITER } from '../connections.module.js';
import { type Caller, CredentialCache } from './credential-cache.js';
import { LastUse } from './last-use.js';

/** Signs answers to callers without a valid key, the same in all replicas. No caller can check these signatures. */
export function anonymousSecret(secretsKey: string): string {
  return KeyRing.parse(secretsKey).derived('answers to callers without a key')[0].toString('hex');
}

export interface Admission {
  /** Absent for a caller without a valid key. */
  readonly caller?: Caller;
  /** The secret that signs the answer. */
  readonly secret: string;
  readonly verdict: RateVerdict;
  /** Number of requests that this one has counted as so far. */
  readonly counted: number;
  readonly refusal?: HttpProblem;
}

/** A request counts as one request for each of these bytes of its body, because they cost about as much to read. */
const BODY_BYTES_OF_A_REQUEST = 2048;
/** What a body without `Content-Length` counts as, in bytes: the longest that most routes take. */
const UNKNOWN_BODY_BYTES = 64 * 1024;

/** Rate limit of a client address, for callers without a valid key. */
const ANONYMOUS_POLICY: RatePolicy = { rate: 20, burst: 100 };

/**
 * Paths that do not count towards the address limit of callers without a key. Probes and scrapers come often and from
 * few addresses, and these routes are cheap.
 */
const NOT_COUNTED = /^\/(?:health\/(?:live|ready|accepting)|metrics)(?:\?|$)/;

/**
 * Decides once for each request, before anything else reads the request, who the caller is and whether the request may
 * go on. A caller with a valid key is limited by its partner, any other caller by the client address. The look-up of a
 * key never seen before also counts for the address until the key proves valid, so that guessed keys cannot load the
 * database.
 */
@Injectable()
export class Admissions {
  /** Number of refused requests, by the limit that refused them. */
  readonly refused = { partner: 0, address: 0 };
  private readonly anonymousSecret: string;

  constructor(
    private readonly credentials: CredentialCache,
    private readonly lastUse: LastUse,
    settings: ApiSettings,
    @Inject(RATE_LIMITER) private readonly limiter: RateLimiter,
  ) {
    this.anonymousSecret = anonymousSecret(settings.secretsKey);
  }

  /** The caller whose key is known to be valid without a look-up. */
  known(request: FastifyRequest): Caller | undefined {
    const apiKey = apiKeyOf(request);
    const known = apiKey === undefined ? undefined : this.credentials.peek(apiKey);
    return known === 'unknown' ? undefined : known;
  }

  async admit(request: FastifyRequest): Promise<Admission> {
    const apiKey = apiKeyOf(request);
    if (apiKey === undefined) {
      const isCounted = !NOT_COUNTED.test(request.raw.url ?? '');
      return isCounted ? this.anonymous(addressKey(request.ip)) : this.notCounted();
    }
    const known = this.credentials.peek(apiKey);
    if (known === 'unknown') return this.anonymous(addressKey(request.ip));
    if (known !== undefined) return this.counted(known, request);
    return this.afterLookUp(apiKey, request);
  }

  /**
   * Counts a request as `count` requests in all. What it has counted as so far stays counted if the rest is refused,
   * because work was done for it.
   * @throws HttpProblem 429
   */
  async countAs(request: FastifyRequest, caller: Caller, count: number): Promise<void> {
    const { admission } = request;
    if (admission === null || count <= admission.counted) return;
    const { counted } = admission;
    const verdict = await this.limiter.take(keyOf(caller), caller, count - counted);
    if (verdict.allowed) {
      request.admission = { ...admission, verdict, counted: count };
      return;
    }
    // The next try has to pay for all of it again.
    const retryAfterSeconds = verdict.retryAfterSeconds + Math.ceil(counted / caller.rate);
    request.admission = this.refusedOrNot({
      ...admission,
      verdict: { ...verdict, retryAfterSeconds },
    });
    throw HttpProblem.tooManyRequests(retryAfterSeconds);
  }

  /** Admits a request by client address alone, such as one that could not be parsed. */
  async anonymous(address: string): Promise<Admission> {
    const verdict = await this.limiter.take(`address:${address}`, ANONYMOUS_POLICY);
    return this.refusedOrNot({ secret: this.anonymousSecret, verdict, counted: 1 });
  }

  private async counted(caller: Caller, request: FastifyRequest): Promise<Admission> {
    this.lastUse.note(caller.credentialId);
    const counted = Math.min(caller.burst, countOf(request));
    const verdict = await this.limiter.take(keyOf(caller), caller, counted);
    return this.refusedOrNot({ caller, secret: caller.sharedSecret, verdict, counted });
  }

  private async afterLookUp(apiKey: string, request: FastifyRequest): Promise<Admission> {
    const address = addressKey(request.ip);
    // A key that had a caller at its last look-up is not a guess, so its look-up does not count for the address.
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
    return this.counted(caller, request);
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
    return { secret: this.anonymousSecret, verdict, counted: 0 };
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

function keyOf({ partnerId }: Caller): string {
  return `partner:${partnerId}`;
}

/** What a request counts as before its body is read: by the length that its head gives. */
function countOf({ headers }: FastifyRequest): number {
  const isUnknown = headers['transfer-encoding'] !== undefined;
  const bytes = isUnknown ? UNKNOWN_BODY_BYTES : Number(headers['content-length'] ?? 0);
  return Math.max(1, Math.ceil(bytes / BODY_BYTES_OF_A_REQUEST));
}

function apiKeyOf({ headers }: FastifyRequest): string | undefined {
  const header = headers['x-api-key'];
  return typeof header === 'string' && (isApiKey(header) || isGrant(header)) ? header : undefined;
}

/**
 * Lets callers with a valid key through. Guards run before pipes, so a missing key is reported before a wrong
 * parameter.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    requireCaller(context.switchToHttp().getRequest<FastifyRequest>().admission);
    return true;
  }
}

/** @throws HttpProblem 401 */
export function requireCaller(admission: Admission | null): Caller {
  if (admission?.caller !== undefined) return admission.caller;
  throw new HttpProblem(401, 'The X-API-KEY header is missing or is not a valid key.');
}
