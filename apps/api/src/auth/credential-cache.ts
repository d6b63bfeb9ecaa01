import { Injectable } from '@nestjs/common';
import { type RatePolicy } from '#libs/cache';
import { PartnerStore } from '#libs/db';
import { type Clock, SingleFlight, TtlCache } from '#libs/platform';
import { hashApiKey, KeyRing } from '#libs/signing';

/** Who calls, and the secret that signs the answers. */
export interface Caller extends RatePolicy {
  readonly partnerId: string;
  readonly credentialId: string;
  readonly sharedSecret: string;
}

/** The keys of partners, as they are stored. */
@Injectable()
export class PartnerKeys {
  constructor(
    private readonly partners: PartnerStore,
    private readonly keyRing: KeyRing,
  ) {}

  /** Looks a key up by its hash and opens the secret that belongs to it; undefined where there is no such key. */
  async load(apiKey: string): Promise<Caller | undefined> {
    const keyHash = hashApiKey(apiKey);
    const found = await this.partners.findCredential(keyHash);
    if (found === undefined) return undefined;
    const { secretCiphertext, partnerId, credentialId, rate, burst } = found;
    const sharedSecret = this.keyRing.open(secretCiphertext, keyHash);
    return { partnerId, credentialId, rate, burst, sharedSecret };
  }
}

export interface CredentialCacheOptions {
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
