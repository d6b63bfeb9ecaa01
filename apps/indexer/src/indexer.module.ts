import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { createMetrics, HealthModule, MetricsModule } from '#libs/service';
import { AuditModule } from './audit/audit.module.js';
import { ConnectionsModule } from './setup/connections.module.js';
import { FollowModule } from './follow.module.js';
import { type IndexerSettings } from './settings/indexer.env.js';
import { PartitionModule } from './write/partition.module.js';
import { PriceModule } from './price/price.module.js';
import { SealModule } from './seal/seal.module.js';

/**
 * The indexer service: the loop that follows the chain, the partitions of its tables, the token's price, sealed days,
 * the nightly audit, the health page and the metrics.
 */
@Module({})
export class IndexerModule {
  static register(settings: IndexerSettings, logger: Logger): DynamicModule {
    return {
      module: IndexerModule,
      imports: [
        ConnectionsModule.register(settings, logger),
        HealthModule.register(),
        MetricsModule.register('indexer', createMetrics('indexer', labelsOf(settings))),
        ScheduleModule.forRoot(),
        FollowModule,
        PartitionModule,
        ...(settings.indexPart === 'next' ? [] : beside(settings)),
      ],
    };
  }
}

/** What an index that is not in use does not need: an exchange keeps the prices, sealed days and audits of the other. */
function beside({ auditHourUtc }: IndexerSettings) {
  return [PriceModule, SealModule, ...(auditHourUtc === 'off' ? [] : [AuditModule])];
}

/**
 * Adds no label for the default stake set, so that the metrics of an installation with one contract keep their names.
 */
function labelsOf({ stakeSet }: IndexerSettings): Record<string, string> {
  return stakeSet === DEFAULT_STAKE_SET ? {} : { stake_set: stakeSet };
}
