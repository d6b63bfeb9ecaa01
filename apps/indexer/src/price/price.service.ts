/**
 * Reads the token's price when this process takes the lead, and every minute while it leads. A price within the limits
 * is stored. A price beyond them is held, and then no price is used until an operator has accepted a figure near the
 * held one. A refused or missing price is logged and counted; the last price stays in use until it is too old. States:
 * off (`none`), standing by while another process leads, or reading, one reading at a time.
 */
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ChainReader } from '#libs/chain';
import { ANSWERED_PRICE_MAX_AGE_SECONDS } from '#libs/config';
import { FencedError, type Price, PriceStore } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { CLOCK, type Clock, inSpan, type Logger, SingleFlight } from '#libs/platform';
import {
  storeOrHold,
  nameOfSources,
  type PriceLimits,
  type PriceReader,
  priceReader,
  type SourceReading,
} from '#libs/price';
import { LOGGER } from '#libs/service';
import { IndexStatus, type Lead } from '../health/index-status.js';
import { IndexerSettings } from '../settings/indexer.env.js';
import { PriceMetrics } from './price.metrics.js';

const INTERVAL_MS = 60_000;

@Injectable()
export class PriceService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly readings = new SingleFlight<void>();
  private readonly reader: PriceReader | undefined;
  /** The name under which prices are stored. */
  private readonly source: string;
  private readonly limits: PriceLimits;

  constructor(
    @Inject(IndexerSettings) settings: IndexerSettings,
    @Inject(ChainReader) chain: ChainReader,
    @Inject(PriceStore) private readonly store: PriceStore,
    @Inject(IndexStatus) private readonly status: IndexStatus,
    @Inject(PriceMetrics) private readonly metrics: PriceMetrics,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const { priceSource: sources, priceMaxAgeSeconds } = settings;
    const onSource = (reading: SourceReading): void => {
      this.noteSource(reading);
    };
    const maxAgeSeconds = priceMaxAgeSeconds ?? ANSWERED_PRICE_MAX_AGE_SECONDS;
    this.source = nameOfSources(sources);
    this.reader = priceReader(sources, { chain, clock, maxAgeSeconds, onSource });
    this.limits = {
      bounds: settings.priceBoundsUsd,
      maxChange: settings.priceMaxChange,
      isOwn: sources.every(({ kind }) => kind === 'fixed'),
    };
  }

  onApplicationBootstrap(): void {
    if (this.reader === undefined) return;
    this.logger.info({ source: this.source }, 'reading prices while leading');
    this.status.onLead(() => {
      this.startReading();
    });
    this.startReading();
  }

  /** Waits for the current reading. The scheduler clears the interval itself. */
  async onApplicationShutdown(): Promise<void> {
    await this.readings.underWay();
  }

  @Interval('price', INTERVAL_MS)
  startReading(): void {
    const { reader, status } = this;
    if (reader === undefined) return;
    const { lead } = status;
    if (lead === undefined) {
      this.metrics.standsBy();
      return;
    }
    if (this.readings.underWay()) return;
    void this.readings
      .run(() => this.readPrice(reader, lead))
      .then(() => {
        // A lead that began during this reading still lacks a reading of its own.
        if (status.lead !== lead) this.startReading();
      });
  }

  /** Never rejects, so that a missing price does not stop the indexer. */
  private async readPrice(reader: PriceReader, { fence }: Lead): Promise<void> {
    const { source, metrics, logger } = this;
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
    const { store, limits, logger, metrics } = this;
    const judged = await storeOrHold(store, limits, fence, price);
    if (judged.kind !== 'kept') {
      const { reason, beforeUsd } = judged;
      metrics.count('held');
      logger.error(
        { ...price, reason, beforeUsd },
        'A price is held: redemptions are paused and snapshots have no price until an operator accepts it (cli price show, price accept)',
      );
    } else if (judged.isStored) {
      metrics.stored(price);
      logger.debug(price, 'stored a price');
    } else {
      metrics.count('older');
      logger.warn(price, 'the source has told a newer price before');
    }
  }

  private noteSource(reading: SourceReading): void {
    this.metrics.source(reading);
    if (reading.result === 'used') return;
    const { name: source, result, usd, error } = reading;
    this.logger.warn({ source, result, usd, err: error }, 'a price source does not count');
  }
}
