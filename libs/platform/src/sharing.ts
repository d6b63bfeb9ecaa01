import { LRUCache } from 'lru-cache';
import { type Clock } from './clock.js';

/** A value that is loaded when it is asked for and the last one is too old; one load at a time, and one that fails leaves nothing. */
export class FreshValue<T> {
  private readonly kept: TtlCache<'value', { readonly value: T }>;
  private readonly loads = new SingleFlight<T>();

  constructor(
    private readonly load: () => Promise<T>,
    options: { readonly clock: Clock; readonly ttlMs: number },
  ) {
    this.kept = new TtlCache({ ...options, max: 1 });
  }

  /** @throws what the load throws */
  get(): Promise<T> {
    const kept = this.kept.get('value');
    if (kept !== undefined) return Promise.resolve(kept.value);
    return this.loads.run(async () => {
      const value = await this.load();
      this.kept.set('value', { value });
      return value;
    });
  }
}

/**
 * One run at a time, or one for each key: all who ask while it is under way get what it gives, or what it throws. Nothing is kept
 * after it.
 */
export class SingleFlight<T, K = void> {
  private readonly runs = new Map<K, Promise<T>>();

  /** @param work is not begun where a run is under way */
  run(work: () => Promise<T>, key: K): Promise<T> {
    const underWay = this.runs.get(key);
    if (underWay !== undefined) return underWay;
    const run = work().finally(() => {
      this.runs.delete(key);
    });
    this.runs.set(key, run);
    return run;
  }

  /** The run under way, if there is one. */
  underWay(key: K): Promise<T> | undefined {
    return this.runs.get(key);
  }
}

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
