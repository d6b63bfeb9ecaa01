/**
 * Reads the price at a steady pace and stores what it finds; what is refused or missing is logged and counted, and leaves the
 * last price standing until it is too old to be used. States: off (`none`), or reading every interval, one reading at a time.
 */
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { type PriceStore } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { Counter, Gauge, type Logger, Registry } from '#libs/platform';
import { inSpan } from '#libs/telemetry';
import { type PriceReader, PriceRefusedError } from '#libs/price';
import { PRICE_PARTS } from './price.tokens.js';

export interface PriceParts {
  readonly reader: PriceReader | undefined;
  /** The name under which prices are stored. */
  readonly source: string;
  readonly store: Pick<PriceStore, 'add'>;
  readonly logger: Logger;
  readonly intervalMs: number;
}

const INTERVAL_NAME = 'price';

@Injectable()
export class PriceService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly value: Gauge;
  private readonly observed: Gauge;
  private readonly readings: Counter<'result'>;
  private reading: Promise<void> | undefined;

  constructor(
    @Inject(PRICE_PARTS) private readonly parts: PriceParts,
    private readonly scheduler: SchedulerRegistry,
    registry: Registry,
  ) {
    const registers = [registry];
    this.value = new Gauge({
      name: 'lowmark_price_usd',
      help: 'US dollars for one token, as last stored',
      registers,
    });
    this.observed = new Gauge({
      name: 'lowmark_price_observed_timestamp_seconds',
      help: 'When the source found the last stored price',
      registers,
    });
    this.readings = new Counter({
      name: 'lowmark_price_readings_total',
      help: 'Looks at the price source',
      labelNames: ['result'],
      registers,
    });
  }

  onApplicationBootstrap(): void {
    const { reader, source, logger, intervalMs } = this.parts;
    if (reader === undefined) return;
    logger.info({ source }, 'reading prices');
    this.start(reader);
    const interval = setInterval(() => {
      this.start(reader);
    }, intervalMs);
    this.scheduler.addInterval(INTERVAL_NAME, interval);
  }

  /** The scheduler clears the interval; a reading under way is let finish. */
  async onApplicationShutdown(): Promise<void> {
    await this.reading;
  }

  private start(reader: PriceReader): void {
    this.reading ??= this.read(reader).finally(() => {
      this.reading = undefined;
    });
  }

  /** Never rejects: a price that cannot be had must not stop the indexer. */
  private async read(reader: PriceReader): Promise<void> {
    const { source, store, logger } = this.parts;
    try {
      const { usd, observedAt } = await inSpan({ name: 'price reading' }, async () => {
        const reading = await reader();
        await store.add({ ...reading, source });
        return reading;
      });
      this.value.set(Number(usd));
      this.observed.set(observedAt.getTime() / 1000);
      this.readings.inc({ result: 'stored' });
      logger.debug({ source, usd, observedAt }, 'stored a price');
    } catch (error) {
      const refused = error instanceof PriceRefusedError;
      this.readings.inc({ result: refused ? 'refused' : 'failed' });
      const code = error instanceof LowmarkError ? error.code : undefined;
      logger.warn({ err: error, code, source }, refused ? 'refused a price' : 'no price');
    }
  }
}
