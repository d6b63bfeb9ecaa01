import { Module } from '@nestjs/common';
import { Database, PartnerStore } from '#libs/db';
import { provide } from '#libs/service';
import { AuditsController } from './audits/audits.controller.js';
import { ChainAccess } from './chain-access.js';
import { DoctorController } from './doctor/doctor.controller.js';
import { DoctorService } from './doctor/doctor.service.js';
import { LogController } from './log/log.controller.js';
import { DatabaseAlerts } from './overview/database-alerts.js';
import { IndexFigures } from './overview/index-figures.js';
import { OpenAlerts } from './overview/open-alerts.js';
import { OverviewController } from './overview/overview.controller.js';
import { ServiceHealth } from './overview/service-health.js';
import { VaultFigures } from './overview/vault-figures.js';
import { ReconciliationController } from './reconciliation/reconciliation.controller.js';
import { RegistryController } from './registry/registry.controller.js';
import { StakeSets } from './stake-sets.js';
import { WalletAudits } from './wallets/wallet-audits.js';
import { WalletHistoryService } from './wallets/wallet-history.service.js';
import { WalletsController } from './wallets/wallets.controller.js';

/** What operators see of the installation, and do that is of no one partner or redemption. */
@Module({
  controllers: [
    OverviewController,
    WalletsController,
    ReconciliationController,
    AuditsController,
    RegistryController,
    DoctorController,
    LogController,
  ],
  providers: [
    ChainAccess,
    DatabaseAlerts,
    DoctorService,
    IndexFigures,
    OpenAlerts,
    ServiceHealth,
    StakeSets,
    VaultFigures,
    WalletAudits,
    WalletHistoryService,
    provide(PartnerStore, Database),
  ],
  exports: [StakeSets],
})
export class OperateModule {}
