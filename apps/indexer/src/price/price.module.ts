import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Database, PriceStore } from '#libs/db';
import { type Clock, type Logger } from '#libs/platform';
import { Registry } from '#libs/service';
import { nameOfSources, priceReader, type SourceReading } from '#libs/price';
import { type ChainParts } from '../chain.factory.js';
import { type Indexer } from '../create-indexer.js';
import { type IndexerSettings } from '../indexer.env.js';
import { CHAIN, INDEXER } from '../indexer.tokens.js';
import { PriceMetrics } from './price.metrics.js';
import { type PriceParts, PriceService } from './price.service.js';
import { PRICE_PARTS } from './price.tokens.js';

const INTERVAL_MS = 60_000;

export type PriceSettings = Pick<
  IndexerSettings,
  | 'priceSource'
  | 'priceMinUsd'
  | 'priceMaxUsd'
  | 'priceMaxChange'
  | 'priceMaxChangePerHour'
  | 'priceMaxSpread'
  | 'priceMaxAgeSeconds'
>;

/** Keeps the token's price. Needs Database, CHAIN and INDEXER from the module that imports it. */
@Module({})
export class PriceModule {
  static register(
    settings: PriceSettings,
    tools: { readonly clock: Clock; readonly logger: Logger; readonly intervalMs?: number },
  ): DynamicModule {
    return {
      module: PriceModule,
      imports: [ScheduleModule.forRoot()],
      providers: [
        {
          provide: PRICE_PARTS,
          inject: [Database, CHAIN, INDEXER, Registry],
          useFactory: (
            database: Database,
            chain: Pick<ChainParts, 'reader'>,
            { status }: Pick<Indexer, 'status'>,
            registry: Registry,
          ): PriceParts => {
            const { clock, logger, intervalMs = INTERVAL_MS } = tools;
            const metrics = new PriceMetrics(registry);
            return {
              ...readerOf(settings, { chain, clock, logger, metrics }),
              limits: {
                min: settings.priceMinUsd,
                max: settings.priceMaxUsd,
                maxChange: settings.priceMaxChange,
                maxChangePerHour: settings.priceMaxChangePerHour,
                trustsFirst: settings.priceSource.every(({ kind }) => kind === 'fixed'),
              },
              store: new PriceStore(database),
              status,
              metrics,
              logger,
              intervalMs,
            };
          },
        },
        PriceService,
      ],
    };
  }
}

interface ReaderTools {
  readonly chain: Pick<ChainParts, 'reader'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: PriceMetrics;
}

function readerOf(
  settings: PriceSettings,
  { chain, clock, logger, metrics }: ReaderTools,
): Pick<PriceParts, 'reader' | 'source'> {
  const onSource = (reading: SourceReading): void => {
    metrics.source(reading);
    if (reading.result === 'used') return;
    const { name: source, result, usd, error } = reading;
    logger.warn({ source, result, usd, err: error }, 'a price source does not count');
  };
  const { priceSource: sources, priceMaxSpread: spread, priceMaxAgeSeconds } = settings;
  return {
    source: nameOfSources(sources),
    reader: priceReader(sources, {
      chain: chain.reader,
      clock,
      spread,
      maxAgeSeconds: priceMaxAgeSeconds,
      onSource,
    }),
  };
}
