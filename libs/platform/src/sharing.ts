import { LRUCache } from 'lru-cache';
import { type Clock } from './clock.js';

/**
 * A value that is loaded on request when the cached one has expired. Its age counts from the beginning of the load. One
 * load runs at a time, and a failed load leaves no value.
 */
export class FreshValue<T> {
  private readonly kept: TtlCache<'value', { readonly value: T }>;
  private readonly loads = new SingleFlight<T>();

  constructor(
    private readonly load: () => Promise<T>,
    private readonly options: { readonly clock: Clock; readonly ttlMs: number },
  ) {
    this.kept = new TtlCache({ ...options, max: 1 });
  }

  /** @throws the error of the load */
  get(): Promise<T> {
    const kept = this.kept.get('value');
    if (kept !== undefined) return Promise.resolve(kept.value);
    return this.loads.run(async () => {
      const sinceMs = this.options.clock.nowMs();
      const value = await this.load();
      this.kept.set('value', { value }, { sinceMs });
      return value;
    });
  }
}

/**
 * Runs one piece of work at a time per key. Callers that arrive during a run share its result or error; the result is
 * not cached.
 */
export class SingleFlight<T, K = void> {
  private readonly runs = new Map<K, Promise<T>>();

  /** @param work not called where a run of the key is in progress */
  run(work: () => Promise<T>, key: K): Promise<T> {
    const underWay = this.runs.get(key);
    if (underWay !== undefined) return underWay;
    const run = work().finally(() => {
      this.runs.delete(key);
    });
    this.runs.set(key, run);
    return run;
  }

  underWay(key: K): Promise<T> | undefined {
    return this.runs.get(key);
  }
}

export interface TtlCacheOptions {
  readonly clock: Clock;
  /** Default lifetime of a value, in milliseconds. */
  readonly ttlMs: number;
  /** Maximum number of values; the least recently used value is evicted first. Default 1,000. */
  readonly max?: number;
}

const DEFAULT_MAX = 1_000;

export interface Lifetime {
  /** From when on the value lives, in Unix milliseconds: the time before it was read. Default: now. */
  readonly sinceMs?: number;
  /** Default: that of the cache. */
  readonly ttlMs?: number;
}

interface Entry<V> extends Required<Lifetime> {
  readonly value: V;
}

export class TtlCache<K extends string, V> {
  private readonly entries: LRUCache<K, Entry<V>>;

  constructor(private readonly options: TtlCacheOptions) {
    // For `max` the library allocates the memory of all entries at once, for a size it does not.
    this.entries = new LRUCache({ maxSize: options.max ?? DEFAULT_MAX, sizeCalculation: () => 1 });
  }

  /** Undefined where there is no value or it has expired. */
  get(key: K): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    const ageMs = this.options.clock.nowMs() - entry.sinceMs;
    // A negative age means that the clock was set back, so the real age is unknown.
    return ageMs >= 0 && ageMs < entry.ttlMs ? entry.value : undefined;
  }

  /** The value, even where it has expired. */
  last(key: K): V | undefined {
    return this.entries.get(key)?.value;
  }

  delete(key: K): void {
    this.entries.delete(key);
  }

  set(key: K, value: V, lifetime: Lifetime = {}): void {
    const { sinceMs = this.options.clock.nowMs(), ttlMs = this.options.ttlMs } = lifetime;
    this.entries.set(key, { value, sinceMs, ttlMs });
  }
}
