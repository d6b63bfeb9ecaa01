import { Module } from '@nestjs/common';
import {
  CallbackStore,
  ConformanceDeductionStore,
  ConformanceRunStore,
  CredentialStore,
  Database,
  RedemptionViews,
} from '#libs/db';
import { provide } from '#libs/service';
import { ConformanceController } from './conformance.controller.js';
import { ConformanceService } from './conformance.service.js';
import { CorrectionsController } from './corrections.controller.js';
import { OpenDeductions } from './open-deductions.js';
import { OwnRows } from './own-rows.js';
import { OwnSecrets } from './own-secrets.js';
import { PartnerEndpoints } from './partner-endpoints.js';
import { OwnRedemptionsController } from './redemptions.controller.js';
import { RequestsController } from './requests.controller.js';
import { SignatureController } from './signature.controller.js';
import { SnapshotController } from './snapshot.controller.js';
import { StandingController } from './standing.controller.js';
import { WebhookLogController } from './webhook-log.controller.js';
import { WebhooksController } from './webhooks.controller.js';

/** Routes of the partners' pages. Each reads as the partner of its session, and as no other. */
@Module({
  controllers: [
    StandingController,
    RequestsController,
    CorrectionsController,
    OwnRedemptionsController,
    SnapshotController,
    SignatureController,
    ConformanceController,
    WebhooksController,
    WebhookLogController,
  ],
  providers: [
    OwnRows,
    OwnSecrets,
    ConformanceService,
    OpenDeductions,
    PartnerEndpoints,
    provide(CallbackStore, Database),
    provide(ConformanceDeductionStore, Database),
    provide(ConformanceRunStore, Database),
    provide(CredentialStore, Database),
    provide(RedemptionViews, Database),
  ],
})
export class PortalModule {}
