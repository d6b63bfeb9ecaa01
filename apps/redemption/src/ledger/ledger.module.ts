import { Inject, Module } from '@nestjs/common';
import { Database, LedgerRestoreStore } from '#libs/db';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER, provide, Registry } from '#libs/service';
import { Alerts } from '../observe/alerts.js';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { RedemptionSettings } from '../redemption.env.js';
import { HighWaterMark } from './high-water-mark.js';
import { gaugeLedger } from './ledger.gauges.js';
import { LedgerWatch } from './ledger-watch.js';

@Module({
  providers: [
    LedgerWatch,
    provide(LedgerRestoreStore, Database),
    {
      provide: HighWaterMark,
      inject: [RedemptionSettings, Alerts, CLOCK, LOGGER],
      useFactory: (
        { ledgerMarkPath }: RedemptionSettings,
        alerts: Alerts,
        clock: Clock,
        logger: Logger,
      ) => new HighWaterMark(ledgerMarkPath, new HourlyAlerts(alerts, clock), logger),
    },
  ],
  exports: [LedgerWatch],
})
export class LedgerModule {
  constructor(registry: Registry, store: LedgerRestoreStore, @Inject(LOGGER) logger: Logger) {
    gaugeLedger(registry, store, logger);
  }
}
