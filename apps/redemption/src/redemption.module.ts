import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { type RateLimiter } from '#libs/cache';
import {
  AttemptStore,
  CallbackStore,
  type Database,
  NonceStore,
  PriceStore,
  RedemptionStore,
  SessionStore,
} from '#libs/db';
import { type AddressPolicy, PartnerClient } from '#libs/partner-client';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import {
  DocsModule,
  HealthRegistry,
  HttpShutdown,
  ManagementModule,
  Registry,
} from '#libs/service';
import { type EvidenceKeys, type KeyRing } from '#libs/signing';
import { AuthController } from './auth/auth.controller.js';
import { AuthService } from './auth/auth.service.js';
import { ExpirySweep } from './auth/expiry.sweep.js';
import { type ChainParts } from './chain.factory.js';
import { ClaimWatchService } from './claim-watch/claim-watch.service.js';
import { createClaimWatch } from './claim-watch/create-claim-watch.js';
import { openApi } from './docs/openapi.js';
import { RequestLimits } from './http/request-limits.js';
import { Lifecycle } from './lifecycle.js';
import { Alerts } from './observe/alerts.js';
import { limitCounter } from './observe/limit-counter.js';
import { PartnerCallMetrics } from './observe/partner-call.metrics.js';
import { PartnerDirectory } from './partner/partner-directory.js';
import { type PayoutPort } from './payout/payout-port.js';
import { createVouchers, gasPolicy } from './payout/create-vouchers.js';
import { createVaultAccount } from './payout/vault-account.factory.js';
import { VaultGauges } from './payout/vault.gauges.js';
import { VoucherPayout } from './payout/voucher-payout.js';
import { type RedemptionSettings } from './redemption.env.js';
import { ENGINE, LOGGER } from './redemption.tokens.js';
import { PartnerCaller } from './steps/partner-caller.js';
import { AttemptSweep } from './users/attempt.sweep.js';
import { CancelService } from './users/cancel.service.js';
import { CreationService } from './users/creation.service.js';
import { PartnersController } from './users/partners.controller.js';
import { PointsService } from './users/points.service.js';
import { RedeemablePrice } from './users/redeemable-price.js';
import { RedemptionPresenter } from './users/redemption-presenter.js';
import { RedemptionsController } from './users/redemptions.controller.js';
import { VerifiedBalance } from './users/verified-balance.js';
import { createReconciliation } from './reconciliation/create-reconciliation.js';
import { refusalCounter } from './observe/refusal-counter.js';
import { ReconciliationService } from './reconciliation/reconciliation.service.js';
import { createEngine } from './worker/create-engine.js';
import { type Engine } from './worker/engine.js';

export interface RedemptionParts extends ChainParts {
  readonly settings: RedemptionSettings;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly alerts: Alerts;
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly evidence: EvidenceKeys;
  readonly partnerAddresses: AddressPolicy;
  readonly limiter: RateLimiter;
  readonly payouts?: PayoutPort;
}

/** Three times the longest call to a partner. */
const LEASE_MS = 45_000;
/** Between two sweeps where no hint comes; a voucher is looked at no later than it should be. */
const POLL_MS = 1_000;

const NOTE = 'All but the signing in is for who is signed in: Authorization: Bearer and the token.';

/** What users and the engine both work with. */
interface Shared {
  readonly store: RedemptionStore;
  readonly directory: PartnerDirectory;
  readonly caller: PartnerCaller;
  readonly payouts: PayoutPort;
}

@Module({})
export class RedemptionModule {
  static register(parts: RedemptionParts): DynamicModule {
    const { keyRing, clock, logger, database, partnerAddresses: policy } = parts;
    const shared = {
      store: new RedemptionStore(database, parts.evidence),
      directory: new PartnerDirectory(new CallbackStore(database), keyRing, clock, logger),
      caller: new PartnerCaller(
        new PartnerClient({ clock, policy }),
        parts.alerts,
        new PartnerCallMetrics(parts.registry),
      ),
      payouts: parts.payouts ?? createVouchers(parts),
    };
    return {
      module: RedemptionModule,
      imports: [
        ManagementModule.register({
          app: 'redemption',
          registry: parts.registry,
          address: managementOf(parts.settings),
        }),
        DocsModule.register(openApi, NOTE),
        ScheduleModule.forRoot(),
      ],
      controllers: [AuthController, PartnersController, RedemptionsController],
      providers: [
        { provide: CLOCK, useValue: clock },
        { provide: LOGGER, useValue: logger },
        { provide: Alerts, useValue: parts.alerts },
        {
          provide: RequestLimits,
          useValue: new RequestLimits(parts.limiter, limitCounter(parts.registry)),
        },
        ...signingIn(parts),
        ...redeeming(parts, shared),
        ...working(parts, shared),
        reconciling(parts),
        watchingClaims(parts),
        ...watching(parts, shared),
      ],
    };
  }
}

function managementOf({
  redemptionManagementPort: port,
  redemptionHost: host,
}: RedemptionSettings) {
  return port === undefined ? undefined : { port, host };
}

function signingIn({
  settings,
  clock,
  database,
  signatures,
  evidence: seal,
}: RedemptionParts): Provider[] {
  const { siweDomains: domains, chainId, sessionTtlSeconds } = settings;
  const nonces = new NonceStore(database);
  const sessions = new SessionStore(database, { seal, domains });
  const rules = { domains, chainId, sessionTtlSeconds };
  const auth = new AuthService({ nonces, sessions, signatures, clock }, rules);
  return [
    { provide: NonceStore, useValue: nonces },
    { provide: SessionStore, useValue: sessions },
    { provide: AuthService, useValue: auth },
    ExpirySweep,
  ];
}

function redeeming(parts: RedemptionParts, shared: Shared): Provider[] {
  const { settings, clock, logger, registry, database, chain } = parts;
  const { store, directory, caller, payouts } = shared;
  const onRefused = refusalCounter(registry);
  const { priceMinUsd: min, priceMaxUsd: max } = settings;
  const prices = new RedeemablePrice({
    prices: new PriceStore(database),
    bounds: { min, max },
    alerts: parts.alerts,
  });
  const points = new PointsService({ store, caller, clock });
  const attempts = new AttemptStore(database);
  const balance = new VerifiedBalance({ points, attempts, clock });
  const creation = new CreationService(
    { store, prices, balance, directory, payouts, chain, clock, onRefused },
    {
      quoteTtlSeconds: settings.quoteTtlSeconds,
      priceMaxAgeSeconds: settings.redemptionPriceMaxAgeSeconds,
      walletDailyTokenBudget: settings.walletDailyTokenBudget,
      coolDown: {
        firstSeconds: settings.voucherCoolDownSeconds,
        longestSeconds: settings.voucherCoolDownMaxSeconds,
      },
    },
  );
  return [
    { provide: RedemptionStore, useValue: store },
    { provide: AttemptStore, useValue: attempts },
    AttemptSweep,
    { provide: PartnerDirectory, useValue: directory },
    { provide: CreationService, useValue: creation },
    { provide: CancelService, useValue: new CancelService({ store, attempts, directory, clock }) },
    { provide: PointsService, useValue: points },
    {
      provide: RedemptionPresenter,
      useValue: new RedemptionPresenter({
        directory,
        payouts,
        logger,
        clock,
        alerts: parts.alerts,
      }),
    },
  ];
}

function working(parts: RedemptionParts, shared: Shared): Provider[] {
  const { settings, clock, logger, database, chain, evidence } = parts;
  const { directory, caller, payouts } = shared;
  const { redemptionsAtOnce: atOnce, payoutPollMs, databaseUrl, walletDailyTokenBudget } = settings;
  const pollMs = Math.min(POLL_MS, payoutPollMs);
  const times = { leaseMs: LEASE_MS, pollMs, payoutPollMs };
  const options = { atOnce, ...times, databaseUrl, walletDailyTokenBudget };
  return [
    {
      provide: ENGINE,
      inject: [Registry, Alerts],
      useFactory: (registry: Registry, alerts: Alerts) => {
        const tools = { clock, logger, registry, alerts };
        return createEngine({ database, directory, caller, payouts, evidence, ...tools }, options);
      },
    },
    {
      provide: Lifecycle,
      inject: [HealthRegistry, SchedulerRegistry, ENGINE],
      useFactory: (health: HealthRegistry, scheduler: SchedulerRegistry, engine: Engine) =>
        new Lifecycle({ health, scheduler, engine, database, chain, payouts }),
    },
    {
      provide: HttpShutdown,
      inject: [Lifecycle, HttpAdapterHost, ENGINE],
      useFactory: (lifecycle: Lifecycle, host: HttpAdapterHost, engine: Engine) =>
        new HttpShutdown({
          host,
          stopping: () => {
            lifecycle.stopping();
          },
          delayMs: settings.shutdownDelayMs,
          // The engine's calls end and its leases go back before the database closes.
          opened: [
            { close: () => engine.stop() },
            ...(payouts instanceof VoucherPayout ? [payouts] : []),
            database,
            chain,
          ],
        }),
    },
  ];
}

function reconciling(parts: RedemptionParts): Provider {
  const { settings, pool, database, clock, logger, chain } = parts;
  const { chainId, vaultContract: vault, tokenContract: token, finality } = settings;
  const tokenDecimals = () => chain.tokenDecimals;
  const options = { place: { chainId, vault }, token, tokenDecimals, finality };
  return {
    provide: ReconciliationService,
    inject: [Registry, Alerts],
    useFactory: (registry: Registry, alerts: Alerts) =>
      createReconciliation(
        { pool, database, clock, logger, registry, alerts },
        { ...options, startBlock: settings.vaultStartBlock },
      ),
  };
}

function watchingClaims(parts: RedemptionParts): Provider {
  const { settings, pool, database, clock, logger, registry, alerts } = parts;
  const { chainId, vaultContract: vault, vaultStartBlock: startBlock, finality } = settings;
  const { vaultPauserKey: key } = settings;
  const chain = { pool, chainId, clock };
  const pauser = key === undefined ? undefined : createVaultAccount(chain, key, gasPolicy(parts));
  const tools = { pool, database, clock, logger, registry, alerts };
  const watched = { place: { chainId, vault }, startBlock, finality };
  return {
    provide: ClaimWatchService,
    useFactory: () => createClaimWatch({ ...tools, pauser, ...watched }),
  };
}

/** Whoever pays otherwise has no vault. */
function watching({ logger, chain }: RedemptionParts, { payouts }: Shared): Provider[] {
  if (!(payouts instanceof VoucherPayout)) return [];
  const facts = () => payouts.facts();
  const tokenDecimals = () => chain.tokenDecimals;
  return [
    {
      provide: VaultGauges,
      inject: [Registry],
      useFactory: (registry: Registry) =>
        new VaultGauges({ facts, registry, logger, tokenDecimals }),
    },
  ];
}
