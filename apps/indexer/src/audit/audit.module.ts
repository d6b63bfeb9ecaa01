import { Module } from '@nestjs/common';
import { AuditRunStore, Database, IndexStore } from '#libs/db';
import { CLOCK } from '#libs/platform';
import { LOGGER, provide, Registry } from '#libs/service';
import { NightlyAudit } from '#libs/verification';
import { IndexerSettings } from '../indexer.env.js';
import { AUDIT_READER } from '../tokens.js';
import { AuditMetrics } from './audit.metrics.js';
import { AuditService } from './audit.service.js';

const SAMPLE = Symbol('AUDIT_SAMPLE');

/** The nightly audit; not imported where it is switched off. */
@Module({
  providers: [
    {
      provide: SAMPLE,
      inject: [IndexerSettings],
      useFactory: ({ auditSample }: IndexerSettings) => auditSample,
    },
    provide(AuditRunStore, Database),
    provide(IndexStore, Database),
    provide(NightlyAudit, Database, AUDIT_READER, AuditRunStore, CLOCK, LOGGER, SAMPLE),
    provide(AuditMetrics, Registry, AuditRunStore, IndexStore, LOGGER),
    AuditService,
  ],
})
export class AuditModule {}
