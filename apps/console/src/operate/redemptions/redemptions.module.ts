import { Module } from '@nestjs/common';
import { CallbackStore, Database, PartnerStore, RedemptionPages, RedemptionStore } from '#libs/db';
import { provide } from '#libs/service';
import { OperateKeys } from '../operate-keys.js';
import { AdoptionActions } from './adoption-actions.js';
import { AdoptionController } from './adoption.controller.js';
import { RedemptionActions } from './redemption-actions.js';
import { RedemptionView } from './redemption-view.js';
import { RedemptionsController } from './redemptions.controller.js';

/** The operators' pages of redemptions. */
@Module({
  controllers: [AdoptionController, RedemptionsController],
  providers: [
    AdoptionActions,
    OperateKeys,
    RedemptionActions,
    RedemptionView,
    provide(CallbackStore, Database),
    provide(PartnerStore, Database),
    provide(RedemptionPages, Database),
    provide(RedemptionStore, Database),
  ],
})
export class OperateRedemptionsModule {}
