import { Module } from '@nestjs/common';
import { AttemptStore, Database } from '#libs/db';
import { provide } from '#libs/service';
import { AuthModule } from '../auth/auth.module.js';
import { ChainModule } from '../chain/chain.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { PartnersModule } from '../partner/partners.module.js';
import { PayoutModule } from '../payout/payout.module.js';
import { CancelService } from './cancel.service.js';
import { CreationService } from './creation.service.js';
import { ExpirySweep } from './expiry.sweep.js';
import { PointsController } from './points.controller.js';
import { QuoteService, RedeemablePrice } from './quote.service.js';
import { QuotesController } from './quotes.controller.js';
import { RedemptionPresenter } from './redemption-presenter.js';
import { RedemptionsController } from './redemptions.controller.js';

@Module({
  imports: [AuthModule, ChainModule, LedgerModule, PartnersModule, PayoutModule],
  controllers: [PointsController, QuotesController, RedemptionsController],
  providers: [
    CancelService,
    CreationService,
    ExpirySweep,
    QuoteService,
    RedeemablePrice,
    RedemptionPresenter,
    provide(AttemptStore, Database),
  ],
})
export class RedemptionsModule {}
