import { Module } from '@nestjs/common';
import { Database, IndexStore, SealedDayStore, SealWriter } from '#libs/db';
import { LOGGER, provide, Registry } from '#libs/service';
import { SealMetrics } from './seal.metrics.js';
import { SealService } from './seal.service.js';

@Module({
  providers: [
    provide(IndexStore, Database),
    provide(SealedDayStore, Database),
    provide(SealWriter, Database),
    provide(SealMetrics, Registry, SealedDayStore, LOGGER),
    SealService,
  ],
})
export class SealModule {}
