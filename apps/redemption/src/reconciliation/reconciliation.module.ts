import { Module } from '@nestjs/common';
import { Database, ReconciliationStore } from '#libs/db';
import { provide } from '#libs/service';
import { Reconciler } from './reconciler.js';
import { ReconciliationMetrics } from './reconciliation.metrics.js';
import { ReconciliationService } from './reconciliation.service.js';

@Module({
  providers: [
    Reconciler,
    ReconciliationMetrics,
    ReconciliationService,
    provide(ReconciliationStore, Database),
  ],
})
export class ReconciliationModule {}
