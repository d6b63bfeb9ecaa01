import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Database, PriceStore } from '#libs/db';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { nameOfSource, priceReader, type PriceSource } from '#libs/price';
import { type ChainParts } from '../chain.factory.js';
import { CHAIN, LOGGER } from '../indexer.tokens.js';
import { type PriceParts, PriceService } from './price.service.js';
import { PRICE_PARTS } from './price.tokens.js';

const INTERVAL_MS = 60_000;

/** Keeps the token's price. Needs Database, CHAIN, CLOCK and LOGGER from the module that imports it. */
@Module({})
export class PriceModule {
  static register(source: PriceSource): DynamicModule {
    return {
      module: PriceModule,
      imports: [ScheduleModule.forRoot()],
      providers: [
        {
          provide: PRICE_PARTS,
          inject: [Database, CHAIN, CLOCK, LOGGER],
          useFactory: (
            database: Database,
            chain: Pick<ChainParts, 'reader'>,
            clock: Clock,
            logger: Logger,
          ): PriceParts => ({
            reader: priceReader(source, { chain: chain.reader, clock }),
            source: nameOfSource(source),
            store: new PriceStore(database),
            logger,
            intervalMs: INTERVAL_MS,
          }),
        },
        PriceService,
      ],
    };
  }
}
