import { Module } from '@nestjs/common';
import { CallbackStore, Database, PartnerStore, RedemptionLog } from '#libs/db';
import { provide } from '#libs/service';
import { ConsequencesController } from '../consequences.controller.js';
import { OperateKeys } from '../operate-keys.js';
import { CredentialsController } from './credentials.controller.js';
import { MembersController } from './members.controller.js';
import { PartnerCallsController } from './partner-calls.controller.js';
import { PartnerActions } from './partner-actions.js';
import { PartnersController } from './partners.controller.js';

/** The operators' pages of partners. */
@Module({
  controllers: [
    ConsequencesController,
    PartnersController,
    CredentialsController,
    PartnerCallsController,
    MembersController,
  ],
  providers: [
    OperateKeys,
    PartnerActions,
    provide(CallbackStore, Database),
    provide(PartnerStore, Database),
    provide(RedemptionLog, Database),
  ],
})
export class OperatePartnersModule {}
