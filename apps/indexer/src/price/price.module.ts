import { Module } from '@nestjs/common';
import { Database, PriceStore } from '#libs/db';
import { provide, Registry } from '#libs/service';
import { PriceMetrics } from './price.metrics.js';
import { PriceService } from './price.service.js';

@Module({
  providers: [provide(PriceStore, Database), provide(PriceMetrics, Registry), PriceService],
})
export class PriceModule {}
