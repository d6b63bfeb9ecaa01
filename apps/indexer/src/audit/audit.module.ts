import { type DynamicModule, Module } from '@nestjs/common';
import { AuditRunStore, Database, IndexStore } from '#libs/db';
import { type Clock, type Logger } from '#libs/platform';
import { Registry } from '#libs/service';
import { type ChainParts } from '../chain.factory.js';
import { type Indexer } from '../create-indexer.js';
import { CHAIN, INDEXER } from '../indexer.tokens.js';
import { gaugeAudit } from './audit.metrics.js';
import { AuditService } from './audit.service.js';
import { NightlyAudit } from './nightly-audit.js';

export interface AuditOptions {
  readonly auditHourUtc: number | 'off';
  readonly auditSample: number | 'all';
}

/**
 * The nightly audit. Needs Database, CHAIN and INDEXER from the module that imports it, and the ScheduleModule that is
 * there once for the whole application.
 */
@Module({})
export class AuditModule {
  static register(
    { auditHourUtc, auditSample }: AuditOptions,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ): DynamicModule {
    if (auditHourUtc === 'off') return { module: AuditModule };
    return {
      module: AuditModule,
      providers: [
        {
          provide: AuditService,
          inject: [Database, CHAIN, INDEXER, Registry],
          useFactory: (
            database: Database,
            { auditReader: reader }: Pick<ChainParts, 'auditReader'>,
            { status }: Pick<Indexer, 'status'>,
            registry: Registry,
          ): AuditService => {
            const runs = new AuditRunStore(database);
            gaugeAudit(registry, { runs, index: new IndexStore(database), logger });
            const audit = new NightlyAudit({ database, reader, runs, clock, logger }, auditSample);
            return new AuditService({ audit, runs, status, clock, logger, hourUtc: auditHourUtc });
          },
        },
      ],
    };
  }
}
