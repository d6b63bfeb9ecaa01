import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Database, PriceStore } from '#libs/db';
import { type Clock, type Logger } from '#libs/platform';
import { nameOfSource, priceReader, type PriceSource } from '#libs/price';
import { type ChainParts } from '../chain.factory.js';
import { type Indexer } from '../create-indexer.js';
import { CHAIN, INDEXER } from '../indexer.tokens.js';
import { type PriceParts, PriceService } from './price.service.js';
import { PRICE_PARTS } from './price.tokens.js';

const INTERVAL_MS = 60_000;

/** Keeps the token's price. Needs Database, CHAIN and INDEXER from the module that imports it. */
@Module({})
export class PriceModule {
  static register(
    source: PriceSource,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ): DynamicModule {
    return {
      module: PriceModule,
      imports: [ScheduleModule.forRoot()],
      providers: [
        {
          provide: PRICE_PARTS,
          inject: [Database, CHAIN, INDEXER],
          useFactory: (
            database: Database,
            chain: Pick<ChainParts, 'reader'>,
            { status }: Pick<Indexer, 'status'>,
          ): PriceParts => ({
            reader: priceReader(source, { chain: chain.reader, clock }),
            source: nameOfSource(source),
            store: new PriceStore(database),
            status,
            logger,
            intervalMs: INTERVAL_MS,
          }),
        },
        PriceService,
      ],
    };
  }
}
