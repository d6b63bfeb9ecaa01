import { Module } from '@nestjs/common';
import { Database, RedemptionChanges } from '#libs/db';
import { provide } from '#libs/service';
import { EvidenceKeys } from '#libs/signing';
import { AuthModule } from '../auth/auth.module.js';
import { PartnersModule } from '../partner/partners.module.js';
import { RedemptionsModule } from '../redemptions/redemptions.module.js';
import { EventsController } from './events.controller.js';
import { LiveFeed } from './live-feed.js';
import { LiveRedemptions } from './live-redemptions.js';

@Module({
  imports: [AuthModule, PartnersModule, RedemptionsModule],
  controllers: [EventsController],
  providers: [LiveFeed, LiveRedemptions, provide(RedemptionChanges, Database, EvidenceKeys)],
  exports: [LiveRedemptions],
})
export class LiveModule {}
