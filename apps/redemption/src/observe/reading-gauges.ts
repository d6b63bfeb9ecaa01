import { type Logger } from '#libs/platform';
import { Gauge, oneReading, type Registry } from '#libs/service';

export interface NamedGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: string[];
}

/**
 * Gauges of one reading, which is made when the metrics are read: from the database, so that it tells of all processes.
 * @param failure what is logged where it cannot be read; the gauges are empty then
 * @returns adds a gauge
 */
export function readingGauges<T>(
  { registry, logger }: { readonly registry: Registry; readonly logger: Logger },
  read: () => Promise<T>,
  failure: string,
): (named: NamedGauge, fill: (reading: T, gauge: Gauge) => void) => void {
  const readOnce = oneReading(
    async () => ({ reading: await read() }),
    (err) => {
      logger.warn({ err }, failure);
    },
  );
  return (named, fill) => {
    new Gauge({
      ...named,
      registers: [registry],
      async collect() {
        const found = await readOnce();
        // An old figure is worse than none. In one go with the new one: two scrapes share a reading.
        this.reset();
        if (named.labelNames === undefined) this.remove();
        if (found !== undefined) fill(found.reading, this);
      },
    });
  };
}
