import { type Clock } from '../clock.js';
import { SingleFlight } from './single-flight.js';
import { TtlCache } from './ttl-cache.js';

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
