/**
 * Reads the price at once when this process takes the lead, and then at a steady pace. What keeps within the limits is stored; what does
 * not is held: no price is used until an operator has accepted a figure near it. What is refused or missing is logged and counted, and
 * leaves the last price standing until it is too old to be used. States: off (`none`), standing by while another leads, or reading every
 * interval, one reading at a time.
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
import { inSpan, type Logger, SingleFlight } from '#libs/platform';
import { judgePrice, type PriceLimits, type PriceReader } from '#libs/price';
import { type IndexStatus } from '../follow/index-status.js';
import { type Lead } from '../lead/lead.js';
import { type PriceMetrics } from './price.metrics.js';
import { PRICE_PARTS } from './price.tokens.js';

export interface PriceParts {
  readonly reader: PriceReader | undefined;
  /** The name under which prices are stored. */
  readonly source: string;
  readonly limits: PriceLimits;
  readonly store: Pick<PriceStore, 'record' | 'standing' | 'hold'>;
  readonly status: Pick<IndexStatus, 'lead' | 'onLead'>;
  readonly metrics: PriceMetrics;
  readonly logger: Logger;
  readonly intervalMs: number;
}

const INTERVAL_NAME = 'price';

@Injectable()
export class PriceService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly readings = new SingleFlight<void>();

  constructor(
    @Inject(PRICE_PARTS) private readonly parts: PriceParts,
    private readonly scheduler: SchedulerRegistry,
  ) {}

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
    await this.readings.underWay();
  }

  private start(reader: PriceReader): void {
    const { status, metrics } = this.parts;
    const { lead } = status;
    if (lead === undefined) {
      metrics.standsBy();
      return;
    }
    if (this.readings.underWay()) return;
    void this.readings
      .run(() => this.read(reader, lead))
      .then(() => {
        // One that a lead began while this was under way is still to be made.
        if (status.lead !== lead) this.start(reader);
      });
  }

  /** Never rejects: a price that cannot be had must not stop the indexer. */
  private async read(reader: PriceReader, { fence }: Lead): Promise<void> {
    const { source, metrics, logger } = this.parts;
    try {
      await inSpan({ name: 'price reading' }, async () => {
        await this.judge(fence, { ...(await reader()), source });
      });
    } catch (error) {
      if (error instanceof FencedError) {
        logger.info({ source }, 'did not store a price: another indexer leads');
        return;
      }
      const isRefused = error instanceof LowmarkError && !error.retryable;
      metrics.count(isRefused ? 'refused' : 'failed');
      const code = error instanceof LowmarkError ? error.code : undefined;
      logger.warn({ err: error, code, source }, isRefused ? 'refused a price' : 'no price');
    }
  }

  private async judge(fence: bigint, price: Price): Promise<void> {
    const { store, limits } = this.parts;
    const judged = await judgePrice(store, limits, fence, price);
    if (judged.kind === 'kept') this.tell(price, judged.isStored);
    else this.tellHeld(price, judged.reason, judged.beforeUsd);
  }

  private tell(price: Price, isStored: boolean): void {
    const { logger, metrics } = this.parts;
    if (isStored) {
      metrics.stored(price);
      logger.debug(price, 'stored a price');
      return;
    }
    metrics.count('older');
    logger.warn(price, 'the source has told a newer price before');
  }

  private tellHeld(price: Price, reason: string, beforeUsd: string | undefined): void {
    this.parts.metrics.count('held');
    this.parts.logger.error(
      { ...price, reason, beforeUsd },
      'A price is held: redemptions are paused and snapshots have no price until an operator accepts it (cli price show, price accept)',
    );
  }
}
