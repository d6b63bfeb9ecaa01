import { Module } from '@nestjs/common';
import { AttemptStore, CallbackStore, Database, RedemptionStore } from '#libs/db';
import { addressPolicy, PartnerClient } from '#libs/partner-client';
import { CLOCK, type Clock } from '#libs/platform';
import { provide, Registry } from '#libs/service';
import { EvidenceKeys } from '#libs/signing';
import { AuthModule } from '../auth/auth.module.js';
import { Alerts } from '../observe/alerts.js';
import { PartnerCallMetrics } from '../observe/partner-call.metrics.js';
import { RedemptionSettings } from '../redemption.env.js';
import { PartnerCaller } from '../steps/partner-caller.js';
import { PartnerDirectory } from './partner-directory.js';
import { PartnersController } from './partners.controller.js';
import { PointsService } from './points.service.js';

/** The partners, how they are called, and the points that players have with them. */
@Module({
  imports: [AuthModule],
  controllers: [PartnersController],
  providers: [
    PartnerDirectory,
    PointsService,
    provide(AttemptStore, Database),
    provide(CallbackStore, Database),
    provide(PartnerCallMetrics, Registry),
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
    provide(PartnerCaller, PartnerClient, Alerts, PartnerCallMetrics),
  ],
  exports: [AttemptStore, PartnerCaller, PartnerDirectory, PointsService, RedemptionStore],
})
export class PartnersModule {}
