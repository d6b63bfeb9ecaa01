import { Module } from '@nestjs/common';
import { AuditRunStore, Database, IndexStore } from '#libs/db';
import { CLOCK } from '#libs/platform';
import { LOGGER, provide } from '#libs/service';
import { NightlyAudit } from '#libs/verification';
import { BACKGROUND_READER } from '../settings/index-options.js';
import { AuditMetrics } from './audit.metrics.js';
import { AuditService } from './audit.service.js';

@Module({
  providers: [
    provide(AuditRunStore, Database),
    provide(IndexStore, Database),
    provide(NightlyAudit, IndexStore, BACKGROUND_READER, AuditRunStore, CLOCK, LOGGER),
    AuditMetrics,
    AuditService,
  ],
})
export class AuditModule {}
