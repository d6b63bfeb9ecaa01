import { Module } from '@nestjs/common';
import { CallbackStore, Database, RedemptionStore } from '#libs/db';
import { addressPolicy, PartnerClient } from '#libs/partner-client';
import { CLOCK, type Clock } from '#libs/platform';
import { provide } from '#libs/service';
import { EvidenceKeys } from '#libs/signing';
import { AuthModule } from '../auth/auth.module.js';
import { RedemptionSettings } from '../redemption.env.js';
import { PartnerCaller, PartnerDirectory, PointsService } from './partners.js';
import { PartnersController } from './partners.controller.js';

@Module({
  imports: [AuthModule],
  controllers: [PartnersController],
  providers: [
    PartnerCaller,
    PartnerDirectory,
    PointsService,
    provide(CallbackStore, Database),
    provide(RedemptionStore, Database, EvidenceKeys),
    {
      provide: PartnerClient,
      inject: [CLOCK, RedemptionSettings],
      useFactory: (clock: Clock, { allowPrivatePartners, nodeEnv }: RedemptionSettings) => {
        const options = {
          allowPrivate: allowPrivatePartners,
          isProduction: nodeEnv === 'production',
        };
        return new PartnerClient({ clock, policy: addressPolicy(options) });
      },
    },
  ],
  exports: [PartnerCaller, PartnerDirectory, PointsService, RedemptionStore],
})
export class PartnersModule {}
