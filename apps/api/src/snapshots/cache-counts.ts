import { Counter, type Registry } from '#libs/service';

export type CacheLayer = 'process' | 'redis';
export type CacheResult = 'hit' | 'miss';

/** How often the caches helped. Counted in plain numbers, and handed over when somebody looks. */
export class CacheCounts {
  private readonly counts = { process: { hit: 0, miss: 0 }, redis: { hit: 0, miss: 0 } };

  note(layer: CacheLayer, result: CacheResult): void {
    this.counts[layer][result] += 1;
  }

  register(registry: Registry): void {
    const { counts } = this;
    new Counter({
      name: 'lowmark_cache_requests_total',
      help: 'Parts of snapshots looked for in a cache, by layer and result',
      labelNames: ['layer', 'result'],
      registers: [registry],
      collect() {
        this.reset();
        for (const layer of ['process', 'redis'] as const) {
          for (const result of ['hit', 'miss'] as const) {
            this.inc({ layer, result }, counts[layer][result]);
          }
        }
      },
    });
  }
}
