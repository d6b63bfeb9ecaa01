import { Counter, Gauge, type Registry } from '#libs/service';
import { type Price } from '#libs/db';
import { type SourceReading } from '#libs/price';

type ReadingResult = 'stored' | 'older' | 'held' | 'refused' | 'failed';

const RESULTS: readonly ReadingResult[] = ['stored', 'older', 'held', 'refused', 'failed'];

export class PriceMetrics {
  private readonly value: Gauge;
  private readonly observed: Gauge;
  private readonly held: Gauge;
  private readonly readings: Counter<'result'>;
  private readonly sources: Counter<'source' | 'result'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.value = new Gauge({
      name: 'lowmark_price_usd',
      help: 'US dollars for one token, as last stored; 0 while another indexer leads',
      registers,
    });
    this.observed = new Gauge({
      name: 'lowmark_price_observed_timestamp_seconds',
      help: 'When the source found the last stored price',
      registers,
    });
    this.held = new Gauge({
      name: 'lowmark_price_held',
      help: '1 while a price waits for an operator and none is used; 0 while another indexer leads',
      registers,
    });
    this.readings = new Counter({
      name: 'lowmark_price_readings_total',
      help: 'Looks at the price source',
      labelNames: ['result'],
      registers,
    });
    this.sources = new Counter({
      name: 'lowmark_price_source_readings_total',
      help: 'Looks at each of several price sources: used, apart from the others, stale, refused or failed',
      labelNames: ['source', 'result'],
      registers,
    });
    // Starts each series at 0, because an alert does not see a series that begins at 1 as an increase.
    for (const result of RESULTS) this.readings.inc({ result }, 0);
  }

  standsBy(): void {
    this.value.set(0);
    this.held.set(0);
  }

  count(result: ReadingResult): void {
    this.readings.inc({ result });
    if (result === 'held') this.held.set(1);
  }

  stored({ usd, observedAt }: Price): void {
    this.count('stored');
    this.held.set(0);
    this.value.set(Number(usd));
    this.observed.set(observedAt.getTime() / 1000);
  }

  source({ name: source, result }: SourceReading): void {
    this.sources.inc({ source, result });
  }
}
