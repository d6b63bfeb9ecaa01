import { randomBytes } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { addressKey, type RateLimiter, type RatePolicy, type RateVerdict } from '#libs/cache';
import { PartnerStore } from '#libs/db';
import { CLOCK, type Clock, type Logger, SingleFlight, TtlCache } from '#libs/platform';
import { HttpProblem, LOGGER, problemFrom } from '#libs/service';
import { hashApiKey, isApiKey, isGrant, KeyRing, openGrant } from '#libs/signing';
import { ApiSettings } from '../api.env.js';
import { RATE_LIMITER } from '../connections.module.js';

const AT_MOST_EVERY_MS = 60_000;
const MAX_CREDENTIALS = 10_000;

/** Notes which credentials are in use, each at most once a minute, and never in a request's way: what fails is only logged. */
@Injectable()
export class LastUse {
  private readonly noted: TtlCache<string, true>;

  constructor(
    private readonly partners: PartnerStore,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.noted = new TtlCache({ clock, ttlMs: AT_MOST_EVERY_MS, max: MAX_CREDENTIALS });
  }

  note(credentialId: string): void {
    if (this.noted.get(credentialId)) return;
    // Also where the writing fails: a database in trouble is not asked more often for this.
    this.noted.set(credentialId, true);
    this.partners.noteUse(credentialId).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.debug({ credentialId, reason }, 'The use of a credential was not noted');
    });
  }
}

/** Who calls, and the secret that signs the answers. */
export interface Caller extends RatePolicy {
  readonly partnerId: string;
  readonly credentialId: string;
  /** What its requests mean that name no contract. */
  readonly stakeSet: string;
  readonly sharedSecret: string;
}

/** The keys of partners, as they are stored. */
@Injectable()
export class PartnerKeys {
  constructor(
    private readonly partners: PartnerStore,
    private readonly keyRing: KeyRing,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Looks a key up by its hash, or by a grant, and opens the secret that belongs to it; undefined where there is no such key. */
  async load(apiKey: string): Promise<Caller | undefined> {
    const keyHash = this.hashOf(apiKey);
    if (keyHash === undefined) return undefined;
    const found = await this.partners.findCredential(keyHash);
    if (found === undefined) return undefined;
    const { secretCiphertext, partnerId, credentialId, stakeSet, rate, burst } = found;
    const sharedSecret = this.keyRing.open(secretCiphertext, keyHash);
    return { partnerId, credentialId, stakeSet, rate, burst, sharedSecret };
  }

  private hashOf(apiKey: string): Buffer | undefined {
    return isGrant(apiKey)
      ? openGrant(this.keyRing, apiKey, this.clock.nowMs())
      : hashApiKey(apiKey);
  }
}

interface CredentialCacheOptions {
  /** After this time a key is looked up again: how long a revoked key may still work. */
  readonly ttlMs: number;
  /** After a failed look-up the next one waits this long. */
  readonly retryMs: number;
  /** Keys remembered at once, unknown ones among them. */
  readonly maxKeys: number;
}

const DEFAULTS: CredentialCacheOptions = { ttlMs: 5000, retryMs: 1000, maxKeys: 10_000 };

/**
 * Callers by API key. One look-up per key at a time. While the database is down a caller that was known stays known, so that
 * even the answer which says so carries the right signature.
 */
export class CredentialCache {
  private readonly callers: TtlCache<string, Caller | 'unknown'>;
  private readonly lookUps = new SingleFlight<Caller | undefined, string>();
  private readonly retryMs: number;

  constructor(
    private readonly keys: PartnerKeys,
    clock: Clock,
    options: Partial<CredentialCacheOptions> = {},
  ) {
    const { ttlMs, retryMs, maxKeys: max } = { ...DEFAULTS, ...options };
    this.callers = new TtlCache({ clock, ttlMs, max });
    this.retryMs = retryMs;
  }

  /** What is known of the key without a look-up: the caller, or `unknown` where it is of no caller; undefined where one is due. */
  peek(apiKey: string): Caller | 'unknown' | undefined {
    return this.callers.get(apiKey);
  }

  /** Whether the key had a caller at the last look-up, however long ago. */
  wasKnown(apiKey: string): boolean {
    return this.lastKnown(apiKey) !== undefined;
  }

  /**
   * Looks the key up, or joins a look-up under way. Where it fails, the caller known before.
   * @throws what the look-up throws, where nothing was known
   */
  load(apiKey: string): Promise<Caller | undefined> {
    return this.lookUps.run(() => this.lookUp(apiKey), apiKey);
  }

  private async lookUp(apiKey: string): Promise<Caller | undefined> {
    try {
      const caller = await this.keys.load(apiKey);
      this.callers.set(apiKey, caller ?? 'unknown');
      return caller;
    } catch (error) {
      const before = this.lastKnown(apiKey);
      if (before === undefined) throw error;
      this.callers.set(apiKey, before, this.retryMs);
      return before;
    }
  }

  private lastKnown(apiKey: string): Caller | undefined {
    const last = this.callers.last(apiKey);
    return last === 'unknown' ? undefined : last;
  }
}

/**
 * Who calls and whether they may go on: decided once for each request, before anything else looks at it. A caller with a
 * valid key is limited under its partner, everybody else under the client address, and look-ups of keys never seen before
 * count for the address too until they prove valid: guessing keys cannot load the database.
 */

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
const ANONYMOUS_POLICY: RatePolicy = { rate: 20, burst: 100 };

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

  /** The caller, where the key is known to be valid without a look-up. */
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
    if (known !== undefined) return this.counted(known);
    return this.afterLookUp(apiKey, addressKey(request.ip));
  }

  /**
   * Counts a request of a caller as so many, in place of one. Refused, it costs nothing.
   * @throws HttpProblem 429
   */
  async recount(request: FastifyRequest, caller: Caller, count: number): Promise<void> {
    const { admission } = request;
    if (admission === null || count <= 1) return;
    const key = `partner:${caller.partnerId}`;
    await this.limiter.giveBack(key, caller);
    const verdict = await this.limiter.take(key, caller, count);
    request.admission = this.refusedOrNot({ ...admission, verdict });
    if (request.admission.refusal !== undefined) throw request.admission.refusal;
  }

  /** For a request that could not even be read. */
  async anonymous(address: string): Promise<Admission> {
    const verdict = await this.limiter.take(`address:${address}`, ANONYMOUS_POLICY);
    return this.refusedOrNot({ secret: this.anonymousSecret, verdict });
  }

  private async counted(caller: Caller): Promise<Admission> {
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
    return this.counted(caller);
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

function apiKeyOf({ headers }: FastifyRequest): string | undefined {
  const header = headers['x-api-key'];
  return typeof header === 'string' && (isApiKey(header) || isGrant(header)) ? header : undefined;
}

/** Lets callers with a valid key through. Guards run before pipes: who calls comes before what is asked. */
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
