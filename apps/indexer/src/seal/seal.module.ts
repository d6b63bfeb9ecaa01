import { Module } from '@nestjs/common';
import { Database, IndexStore, SealedDayStore, SealWriter } from '#libs/db';
import { LOGGER, provide, Registry } from '#libs/service';
import { SealMetrics } from './seal.metrics.js';
import { SealService, START_DAY_THREAD } from './seal.service.js';
import { SealThread, type StartDayThread } from './seal-thread.js';

const startThread: StartDayThread = (data, signal) => new SealThread(data, signal);

@Module({
  providers: [
    provide(IndexStore, Database),
    provide(SealedDayStore, Database),
    provide(SealWriter, Database),
    provide(SealMetrics, Registry, SealedDayStore, LOGGER),
    { provide: START_DAY_THREAD, useValue: startThread },
    SealService,
  ],
})
export class SealModule {}
