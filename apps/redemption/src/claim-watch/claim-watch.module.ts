import { Module } from '@nestjs/common';
import { ClaimReader, RpcPool } from '#libs/chain';
import { ClaimWatchStore, Database } from '#libs/db';
import { provide } from '#libs/service';
import { PayoutModule } from '../payout/payout.module.js';
import { RedemptionSettings } from '../redemption.env.js';
import { ClaimWatch } from './claim-watch.js';
import { ClaimWatchService } from './claim-watch.service.js';

/** Notices claims that nothing authorised, within minutes. */
@Module({
  imports: [PayoutModule],
  providers: [
    ClaimWatch,
    ClaimWatchService,
    provide(ClaimWatchStore, Database),
    {
      provide: ClaimReader,
      inject: [RpcPool, RedemptionSettings],
      useFactory: (pool: RpcPool, { finality }: RedemptionSettings) =>
        new ClaimReader(pool, finality),
    },
  ],
})
export class ClaimWatchModule {}
