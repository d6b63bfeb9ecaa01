import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AuthModule } from './auth/auth.module.js';
import { ChainModule } from './chain/chain.module.js';
import { ClaimWatchModule } from './claim-watch/claim-watch.module.js';
import { EngineModule } from './engine.module.js';
import { LedgerModule } from './ledger/ledger.module.js';
import { Lifecycle, Shutdown } from './lifecycle.js';
import { PartnersModule } from './partner/partners.module.js';
import { PayoutModule } from './payout/payout.module.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';
import { RedemptionsModule } from './redemptions/redemptions.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    AuthModule,
    ChainModule,
    PartnersModule,
    RedemptionsModule,
    PayoutModule,
    EngineModule,
    LedgerModule,
    ReconciliationModule,
    ClaimWatchModule,
    WebhooksModule,
  ],
  providers: [Lifecycle, Shutdown],
})
export class RedemptionModule {
  /** @param global modules of the settings and the connections, and those that serve beside the API */
  static register(...global: DynamicModule[]): DynamicModule {
    return { module: RedemptionModule, imports: global };
  }
}
