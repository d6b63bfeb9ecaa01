import { type DynamicModule, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { HttpShutdown } from '#libs/service';
import { AuthModule } from './auth/auth.module.js';
import { ClaimWatchModule } from './claim-watch/claim-watch.module.js';
import { Connections } from './connections.module.js';
import { EngineModule } from './engine.module.js';
import { Lifecycle } from './lifecycle.js';
import { PartnersModule } from './partner/partners.module.js';
import { PayoutModule } from './payout/payout.module.js';
import { VoucherPayout } from './payout/voucher-payout.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';
import { RedemptionSettings } from './redemption.env.js';
import { RedemptionsModule } from './redemptions/redemptions.module.js';
import { Engine } from './worker/engine.js';

/** The redemption service. */
@Module({
  imports: [
    ScheduleModule.forRoot(),
    AuthModule,
    PartnersModule,
    RedemptionsModule,
    PayoutModule,
    EngineModule,
    ReconciliationModule,
    ClaimWatchModule,
  ],
  providers: [
    Lifecycle,
    {
      provide: HttpShutdown,
      inject: [HttpAdapterHost, RedemptionSettings, Lifecycle, Engine, VoucherPayout, Connections],
      useFactory: (
        host: HttpAdapterHost,
        { shutdownDelayMs: delayMs }: RedemptionSettings,
        lifecycle: Lifecycle,
        engine: Engine,
        payouts: VoucherPayout,
        { opened }: Connections,
      ) =>
        new HttpShutdown({
          host,
          stopping: () => {
            lifecycle.stopping();
          },
          delayMs,
          // The engine's calls end and its leases go back before the database closes.
          opened: [{ close: () => engine.stop() }, payouts, ...opened],
        }),
    },
  ],
})
export class RedemptionModule {
  /** @param global settings, connections and what is served beside the api */
  static register(...global: DynamicModule[]): DynamicModule {
    return { module: RedemptionModule, imports: global };
  }
}
