import { Module } from '@nestjs/common';
import { ClaimWatchStore, Database } from '#libs/db';
import { provide } from '#libs/service';
import { PayoutModule } from '../payout/payout.module.js';
import { ClaimWatch } from './claim-watch.js';
import { ClaimWatchService } from './claim-watch.service.js';

@Module({
  imports: [PayoutModule],
  providers: [ClaimWatch, ClaimWatchService, provide(ClaimWatchStore, Database)],
})
export class ClaimWatchModule {}
