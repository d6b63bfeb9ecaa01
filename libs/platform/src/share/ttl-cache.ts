import { LRUCache } from 'lru-cache';
import { type Clock } from '../clock.js';

export interface TtlCacheOptions {
  readonly clock: Clock;
  /** How long a value counts, unless it is set for another time. */
  readonly ttlMs: number;
  /** Values kept at once; the one that was used longest ago goes first. Default 1,000. */
  readonly max?: number;
}

const DEFAULT_MAX = 1_000;

interface Entry<V> {
  readonly value: V;
  readonly sinceMs: number;
  readonly ttlMs: number;
}

/** Values that count for a time. */
export class TtlCache<K extends string, V> {
  private readonly entries: LRUCache<K, Entry<V>>;

  constructor(private readonly options: TtlCacheOptions) {
    this.entries = new LRUCache({ max: options.max ?? DEFAULT_MAX });
  }

  /** Undefined where there is none, or its time has passed. */
  get(key: K): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    const ageMs = this.options.clock.nowMs() - entry.sinceMs;
    // A negative age: the clock was set back, and nothing is known of how long ago that was.
    return ageMs >= 0 && ageMs < entry.ttlMs ? entry.value : undefined;
  }

  /** The same, also after its time. */
  last(key: K): V | undefined {
    return this.entries.get(key)?.value;
  }

  set(key: K, value: V, ttlMs = this.options.ttlMs): void {
    this.entries.set(key, { value, sinceMs: this.options.clock.nowMs(), ttlMs });
  }
}
