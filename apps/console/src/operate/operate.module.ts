import { Module } from '@nestjs/common';
import {
  CallbackStore,
  Database,
  PartnerStore,
  RedemptionLog,
  RedemptionPages,
  RedemptionStore,
} from '#libs/db';
import { provide } from '#libs/service';
import { AuditsController } from './audits/audits.controller.js';
import { ChainAccess } from './chain-access.js';
import { ConsequencesController } from './consequences.controller.js';
import { DoctorController } from './doctor/doctor.controller.js';
import { LogController } from './log/log.controller.js';
import { OperateKeys } from './operate-keys.js';
import { OperationService } from './operation/operation.service.js';
import { DatabaseAlerts } from './overview/database-alerts.js';
import { IndexFigures } from './overview/index-figures.js';
import { OpenAlerts } from './overview/open-alerts.js';
import { OverviewController } from './overview/overview.controller.js';
import { PRICE_ROUTES } from './overview/price.routes.js';
import { ServiceHealth } from './overview/service-health.js';
import { VaultFigures } from './overview/vault-figures.js';
import { MembersController } from './partners/members.controller.js';
import { PartnerCallsController } from './partners/partner-calls.controller.js';
import { PartnerViews } from './partners/partner-views.js';
import { PARTNER_ROUTES } from './partners/partner.routes.js';
import { PartnersController } from './partners/partners.controller.js';
import { CLAIM_ROUTES } from './reconciliation/claim.routes.js';
import { ReconciliationController } from './reconciliation/reconciliation.controller.js';
import { AdoptionController } from './redemptions/adoption.controller.js';
import { REDEMPTION_ROUTES } from './redemptions/redemption.routes.js';
import { RedemptionView } from './redemptions/redemption-view.js';
import { RedemptionsController } from './redemptions/redemptions.controller.js';
import { RegistryController } from './registry/registry.controller.js';
import { StakeSets } from './stake-sets.js';
import { WalletAudits } from './wallets/wallet-audits.js';
import { WalletHistoryService } from './wallets/wallet-history.service.js';
import { WalletsController } from './wallets/wallets.controller.js';

@Module({
  controllers: [
    OverviewController,
    ...PRICE_ROUTES,
    WalletsController,
    ReconciliationController,
    ...CLAIM_ROUTES,
    AuditsController,
    RegistryController,
    DoctorController,
    LogController,
    ConsequencesController,
    PartnersController,
    ...PARTNER_ROUTES,
    PartnerCallsController,
    MembersController,
    AdoptionController,
    RedemptionsController,
    ...REDEMPTION_ROUTES,
  ],
  providers: [
    ChainAccess,
    DatabaseAlerts,
    IndexFigures,
    OpenAlerts,
    OperateKeys,
    OperationService,
    PartnerViews,
    RedemptionView,
    ServiceHealth,
    StakeSets,
    VaultFigures,
    WalletAudits,
    WalletHistoryService,
    provide(CallbackStore, Database),
    provide(PartnerStore, Database),
    provide(RedemptionLog, Database),
    provide(RedemptionPages, Database),
    provide(RedemptionStore, Database),
  ],
})
export class OperateModule {}
