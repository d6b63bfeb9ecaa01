/**
 * Puts the engine together. Any number of processes may run one: the lease in the row keeps them apart, and the row's
 * version makes a late write harmless.
 */
import {
  AttemptStore,
  type Database,
  DeliveryStore,
  type EvidenceSeal,
  LeaseLostError,
  REDEMPTION_PROGRAM,
  RedemptionHints,
  RedemptionStore,
  RedemptionViews,
  RestoreNotNotedError,
  StaleRedemptionError,
} from '#libs/db';
import { type Clock, type Logger } from '#libs/platform';
import { type Registry } from '#libs/service';
import { type LedgerWatch } from '../ledger/ledger-watch.js';
import { type Alerts } from '../observe/alerts.js';
import { EngineMetrics } from '../observe/engine-metrics.js';
import { type PartnerCaller, type PartnerDirectory, PointsService } from '../partner/partners.js';
import { type VaultConditions } from '../payout/vault-conditions.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { ConfirmationQueue } from './confirmation.queue.js';
import {
  Engine,
  type EngineContext,
  type EngineSettings,
  type HintSource,
  type PumpObserver,
  QueuePump,
} from './engine.js';
import { LeasedRedemptions } from './leased-redemptions.js';
import { PayoutQueue } from './payout.queue.js';
import { RedemptionQueue } from './redemption.queue.js';
import { RevertStep } from './revert.step.js';

/** The stores of the ledger that the engine works on. */
export interface EngineStores {
  readonly redemptions: RedemptionStore;
  readonly deliveries: DeliveryStore;
  readonly attempts: AttemptStore;
  readonly views: RedemptionViews;
}

/** @param evidence makes and verifies the MAC of rows, under `EVIDENCE_KEY` */
export function engineStores(database: Database, evidence: EvidenceSeal): EngineStores {
  return {
    redemptions: new RedemptionStore(database, evidence),
    deliveries: new DeliveryStore(database),
    attempts: new AttemptStore(database),
    views: new RedemptionViews(database),
  };
}

/** @param url to `LISTEN` on, not behind a pooler */
export function engineHints(url: string): HintSource {
  return new RedemptionHints({ url, applicationName: `${REDEMPTION_PROGRAM} hints` });
}

export interface EngineServices {
  readonly stores: EngineStores;
  /** Absent: only the sweeps find work. */
  readonly hints?: HintSource | undefined;
  readonly directory: PartnerDirectory;
  readonly caller: PartnerCaller;
  readonly conditions: VaultConditions;
  readonly payouts: VoucherPayout;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly alerts: Alerts;
  readonly ledger: LedgerWatch;
  /** Random number from 0 to 1, for the jitter of backoff; default `Math.random`. */
  readonly random?: () => number;
}

export function createEngine(services: EngineServices, settings: EngineSettings): Engine {
  const { stores, hints, directory, caller, conditions, payouts, registry, ...tools } = services;
  const { redemptions: store, attempts, deliveries, views } = stores;
  const { clock, logger } = tools;
  const metrics = new EngineMetrics(registry, views, logger);
  const context = { random: Math.random, ...tools, metrics, settings };
  const leased = new LeasedRedemptions(store, directory, caller, context);
  const revert = new RevertStep(leased, payouts, context);
  const points = new PointsService(store, caller, clock);
  const redemptions = new RedemptionQueue(
    leased,
    attempts,
    points,
    conditions,
    payouts,
    revert,
    context,
  );
  const observer = pumpObserver(context);
  const pumps = [
    new QueuePump(redemptions, observer),
    new QueuePump(new PayoutQueue(leased, payouts, context), observer),
    new QueuePump(new ConfirmationQueue(deliveries, directory, caller, context), observer),
  ];
  caller.onCircuitClosed((partner) => {
    // Brings forward the reverts and confirmations that waited for this partner. A failure costs only time: each is due
    // at its own time anyway.
    for (const queue of [store, deliveries]) {
      queue.makeDueNow(partner, clock.nowMs()).catch((error: unknown) => {
        logger.warn({ err: error, partner }, 'What waits for it could not be brought forward');
      });
    }
  });
  return new Engine(pumps, hints, settings.pollMs, logger);
}

function pumpObserver({ metrics, clock, logger }: EngineContext): PumpObserver {
  return {
    swept: (queue) => {
      metrics.sweptAt(queue, clock.nowMs());
    },
    failed: (queue, error) => {
      if (error instanceof StaleRedemptionError || error instanceof LeaseLostError) {
        // Two workers wrote the same row and one of them was refused, as intended.
        logger.info({ queue, code: error.code }, error.message);
        return;
      }
      // Told by an alert already.
      if (error instanceof RestoreNotNotedError) return;
      metrics.failed(queue);
      logger.error({ queue, err: error }, 'A piece of work failed; it is tried again');
    },
  };
}
