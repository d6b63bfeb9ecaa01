import { sessionUrl } from '#libs/config';
import { Module } from '@nestjs/common';
import { Database } from '#libs/db';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER, Registry } from '#libs/service';
import { EvidenceKeys } from '#libs/signing';
import { LedgerModule } from './ledger/ledger.module.js';
import { LedgerWatch } from './ledger/ledger-watch.js';
import { Alerts } from './observe/alerts.js';
import { PartnerCaller, PartnerDirectory } from './partner/partners.js';
import { PartnersModule } from './partner/partners.module.js';
import { PayoutModule } from './payout/payout.module.js';
import { VaultConditions } from './payout/vault-conditions.js';
import { VoucherPayout } from './payout/voucher-payout.js';
import { RedemptionSettings } from './redemption.env.js';
import { createEngine, engineHints, engineStores } from './worker/create-engine.js';
import { Engine, type EngineSettings } from './worker/engine.js';

/** In milliseconds: three times the longest call to a partner. */
const LEASE_MS = 45_000;
/** Milliseconds between two sweeps without a hint, or `payoutPollMs` where that is shorter. */
const POLL_MS = 1_000;

/**
 * Redemptions that a process works at at once. Most of their time is waiting for partners and nodes, and each of the 8
 * connections to the database serves several.
 */
const AT_ONCE = 32;

/** Provides the engine, which itself does not depend on Nest. */
@Module({
  imports: [LedgerModule, PartnersModule, PayoutModule],
  providers: [
    {
      provide: Engine,
      inject: [
        ...[RedemptionSettings, Database, EvidenceKeys, PartnerDirectory, PartnerCaller],
        ...[VaultConditions, VoucherPayout, CLOCK, LOGGER, Registry, Alerts, LedgerWatch],
      ],
      useFactory: (
        settings: RedemptionSettings,
        database: Database,
        evidence: EvidenceKeys,
        directory: PartnerDirectory,
        caller: PartnerCaller,
        conditions: VaultConditions,
        payouts: VoucherPayout,
        clock: Clock,
        logger: Logger,
        registry: Registry,
        alerts: Alerts,
        ledger: LedgerWatch,
      ) =>
        createEngine(
          {
            stores: engineStores(database, evidence),
            hints: engineHints(sessionUrl(settings)),
            ...{ directory, caller, conditions, payouts },
            ...{ clock, logger, registry, alerts, ledger },
          },
          optionsOf(settings),
        ),
    },
  ],
  exports: [Engine],
})
export class EngineModule {}

function optionsOf(settings: RedemptionSettings): EngineSettings {
  const { payoutPollMs, walletDailyTokenBudget } = settings;
  const pollMs = Math.min(POLL_MS, payoutPollMs);
  return { atOnce: AT_ONCE, leaseMs: LEASE_MS, pollMs, payoutPollMs, walletDailyTokenBudget };
}
