/**
 * Reads the price at once when this process takes the lead, and then at a steady pace, and stores what it finds; what is refused or
 * missing is logged and counted, and leaves the last price standing until it is too old to be used. States: off (`none`), standing by
 * while another leads, or reading every interval, one reading at a time.
 */
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { FencedError, type Price, type PriceStore } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { Counter, Gauge, type Logger, Registry } from '#libs/platform';
import { inSpan } from '#libs/telemetry';
import { type PriceReader, PriceRefusedError } from '#libs/price';
import { type IndexStatus } from '../follow/index-status.js';
import { type Lead } from '../lead/lead.js';
import { PRICE_PARTS } from './price.tokens.js';

export interface PriceParts {
  readonly reader: PriceReader | undefined;
  /** The name under which prices are stored. */
  readonly source: string;
  readonly store: Pick<PriceStore, 'record'>;
  readonly status: Pick<IndexStatus, 'lead' | 'onLead'>;
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
      help: 'US dollars for one token, as last stored; 0 while another indexer leads',
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
    // From 0 on: a series that begins at 1 is no increase to an alert.
    for (const result of ['stored', 'older', 'refused', 'failed']) this.readings.inc({ result }, 0);
  }

  onApplicationBootstrap(): void {
    const { reader, source, status, logger, intervalMs } = this.parts;
    if (reader === undefined) return;
    logger.info({ source }, 'reading prices while leading');
    status.onLead(() => {
      this.start(reader);
    });
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
    const { status } = this.parts;
    const { lead } = status;
    if (lead === undefined) {
      this.value.set(0);
      return;
    }
    this.reading ??= this.read(reader, lead).finally(() => {
      this.reading = undefined;
      // One that a lead began while this was under way is still to be made.
      if (status.lead !== lead) this.start(reader);
    });
  }

  /** Never rejects: a price that cannot be had must not stop the indexer. */
  private async read(reader: PriceReader, { fence }: Lead): Promise<void> {
    const { source, store, logger } = this.parts;
    try {
      const [price, isStored] = await inSpan({ name: 'price reading' }, async () => {
        const reading = { ...(await reader()), source };
        return [reading, await store.record(fence, reading)] as const;
      });
      this.tell(price, isStored);
    } catch (error) {
      if (error instanceof FencedError) {
        logger.info({ source }, 'did not store a price: another indexer leads');
        return;
      }
      const refused = error instanceof PriceRefusedError;
      this.readings.inc({ result: refused ? 'refused' : 'failed' });
      const code = error instanceof LowmarkError ? error.code : undefined;
      logger.warn({ err: error, code, source }, refused ? 'refused a price' : 'no price');
    }
  }

  private tell({ source, usd, observedAt }: Price, isStored: boolean): void {
    const { logger } = this.parts;
    this.readings.inc({ result: isStored ? 'stored' : 'older' });
    if (!isStored) {
      logger.warn({ source, usd, observedAt }, 'the source has told a newer price before');
      return;
    }
    this.value.set(Number(usd));
    this.observed.set(observedAt.getTime() / 1000);
    logger.debug({ source, usd, observedAt }, 'stored a price');
  }
}
