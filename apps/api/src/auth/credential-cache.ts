import { Inject, Injectable } from '@nestjs/common';
import { type RatePolicy } from '#libs/cache';
import { PartnerStore } from '#libs/db';
import { type CredentialId, type PartnerId } from '#libs/domain';
import { CLOCK, type Clock, SingleFlight, TtlCache } from '#libs/platform';
import { hashApiKey, isGrant, KeyRing, openGrant } from '#libs/signing';

/** The caller of a request, with its rate limit and the secret that signs the answers. */
export interface Caller extends RatePolicy {
  readonly partnerId: PartnerId;
  readonly credentialId: CredentialId;
  /** The stake set of requests that name no contract. */
  readonly stakeSet: string;
  readonly sharedSecret: string;
}

@Injectable()
export class PartnerKeys {
  constructor(
    private readonly partners: PartnerStore,
    private readonly keyRing: KeyRing,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Looks up an API key or a grant, and decrypts the shared secret of its credential. Undefined where there is no such
   * key.
   */
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
  /** Lifetime of a cached key from the beginning of its look-up, and how long a revoked key still works at most. */
  readonly ttlMs: number;
  /** Pause after a failed look-up of a known key. */
  readonly retryMs: number;
  /** Size of the cache, in keys with a caller; keys without one have as much room of their own. */
  readonly maxKeys: number;
}

const DEFAULTS: CredentialCacheOptions = { ttlMs: 5000, retryMs: 1000, maxKeys: 10_000 };

/**
 * Cache of callers by API key. Look-ups are single-flight per key. While the database is unavailable, the last known
 * caller of a key stays valid, so that even the answer that reports the failure is signed with the right secret.
 */
export class CredentialCache {
  private readonly callers: TtlCache<string, Caller>;
  /** Keys without a caller, apart from the others: guessed keys evict no caller. */
  private readonly unknown: TtlCache<string, true>;
  private readonly lookUps = new SingleFlight<Caller | undefined, string>();
  private readonly retryMs: number;

  constructor(
    private readonly keys: PartnerKeys,
    private readonly clock: Clock,
    options: Partial<CredentialCacheOptions> = {},
  ) {
    const { ttlMs, retryMs, maxKeys: max } = { ...DEFAULTS, ...options };
    this.callers = new TtlCache({ clock, ttlMs, max });
    this.unknown = new TtlCache({ clock, ttlMs, max });
    this.retryMs = retryMs;
  }

  /** The cached caller of the key, or `unknown` where the key has no caller. Undefined where a look-up is due. */
  peek(apiKey: string): Caller | 'unknown' | undefined {
    return this.callers.get(apiKey) ?? (this.unknown.get(apiKey) && 'unknown');
  }

  /** Whether the last look-up of the key found a caller, however long ago. */
  wasKnown(apiKey: string): boolean {
    return this.callers.last(apiKey) !== undefined;
  }

  /**
   * Looks the key up, or joins a look-up of the same key. Where the look-up fails, returns the last known caller.
   * @throws the error of the look-up, where no caller is known
   */
  load(apiKey: string): Promise<Caller | undefined> {
    return this.lookUps.run(() => this.lookUp(apiKey), apiKey);
  }

  private async lookUp(apiKey: string): Promise<Caller | undefined> {
    const sinceMs = this.clock.nowMs();
    try {
      const caller = await this.keys.load(apiKey);
      if (caller === undefined) {
        this.callers.delete(apiKey);
        this.unknown.set(apiKey, true, { sinceMs });
      } else this.callers.set(apiKey, caller, { sinceMs });
      return caller;
    } catch (error) {
      const before = this.callers.last(apiKey);
      if (before === undefined) throw error;
      this.callers.set(apiKey, before, { ttlMs: this.retryMs });
      return before;
    }
  }
}
