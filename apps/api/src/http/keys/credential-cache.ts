import { LRUCache } from 'lru-cache';
import { type Clock } from '#libs/platform';
import { type RatePolicy } from '#libs/cache';

/** Who calls, and the secret that signs the answers. */
export interface Caller extends RatePolicy {
  readonly partnerId: string;
  readonly credentialId: string;
  readonly sharedSecret: string;
}

/** Looks a key up at its source; undefined where nobody has it. */
export type LoadCaller = (apiKey: string) => Promise<Caller | undefined>;

export interface CredentialCacheOptions {
  /** After this time a key is looked up again: how long a revoked key may still work. */
  readonly ttlMs: number;
  /** After a failed look-up the next one waits this long. */
  readonly retryMs: number;
  /** Keys remembered at once, unknown ones among them. */
  readonly maxKeys: number;
}

const DEFAULTS: CredentialCacheOptions = { ttlMs: 5000, retryMs: 1000, maxKeys: 10_000 };

interface Entry {
  readonly caller: Caller | undefined;
  checkedAtMs: number;
  /** From `checkedAtMs` on. */
  validMs: number;
}

/**
 * Callers by API key. One look-up per key at a time. While the source is down a caller that was known stays known, so that
 * even the answer which says so carries the right signature.
 */
export class CredentialCache {
  private readonly entries: LRUCache<string, Entry>;
  private readonly loading = new Map<string, Promise<Caller | undefined>>();
  private readonly options: CredentialCacheOptions;

  constructor(
    private readonly source: LoadCaller,
    private readonly clock: Clock,
    options: Partial<CredentialCacheOptions> = {},
  ) {
    this.options = { ...DEFAULTS, ...options };
    this.entries = new LRUCache({ max: this.options.maxKeys });
  }

  /** What is known of the key without a look-up: the caller, or `unknown` (nobody's key); undefined where one is due. */
  peek(apiKey: string): Caller | 'unknown' | undefined {
    const entry = this.entries.get(apiKey);
    if (entry === undefined) return undefined;
    const ageMs = this.clock.nowMs() - entry.checkedAtMs;
    // A negative age: the clock was set back, and nothing is known of how long ago that was.
    return ageMs >= 0 && ageMs < entry.validMs ? (entry.caller ?? 'unknown') : undefined;
  }

  /** Whether the key belonged to somebody at the last look-up, however long ago. */
  wasKnown(apiKey: string): boolean {
    return this.entries.get(apiKey)?.caller !== undefined;
  }

  /**
   * Looks the key up, or joins a look-up under way. Where it fails, the caller known before.
   * @throws what the source throws, where nothing was known
   */
  load(apiKey: string): Promise<Caller | undefined> {
    const underWay = this.loading.get(apiKey);
    if (underWay !== undefined) return underWay;
    const loading = this.lookUp(apiKey).finally(() => this.loading.delete(apiKey));
    this.loading.set(apiKey, loading);
    return loading;
  }

  private async lookUp(apiKey: string): Promise<Caller | undefined> {
    try {
      const caller = await this.source(apiKey);
      const { ttlMs: validMs } = this.options;
      this.entries.set(apiKey, { caller, checkedAtMs: this.clock.nowMs(), validMs });
      return caller;
    } catch (error) {
      const before = this.entries.get(apiKey);
      if (before?.caller === undefined) throw error;
      before.checkedAtMs = this.clock.nowMs();
      before.validMs = this.options.retryMs;
      return before.caller;
    }
  }
}
