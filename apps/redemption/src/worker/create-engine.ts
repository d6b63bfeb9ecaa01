/**
 * The engine of the redemptions: three queues in the database, each with a pump that takes what is due. Any number of processes may
 * run one; what holds them apart is the lease in the row, and what makes a late one harmless is the row's version.
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
  StaleRedemptionError,
} from '#libs/db';
import { type Decimal } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type Registry } from '#libs/service';
import { type Alerts } from '../observe/alerts.js';
import { EngineMetrics } from '../observe/engine-metrics.js';
import { traceConfirming, traceObserving, traceStep } from '../observe/trace-steps.js';
import { type PartnerDirectory } from '../partner/partner-directory.js';
import { type PayoutPort } from '../payout/payout-port.js';
import { AuthoriseStep } from '../steps/authorise.step.js';
import { ConfirmStep } from '../steps/confirm.step.js';
import { DeductStep } from '../steps/deduct.step.js';
import { ObserveStep } from '../steps/observe.step.js';
import { type PartnerCaller } from '../steps/partner-caller.js';
import { RevertStep } from '../steps/revert.step.js';
import { ConfirmationQueue } from './confirmation.queue.js';
import { Engine } from './engine.js';
import { PayoutQueue } from './payout.queue.js';
import { type PumpObserver, QueuePump } from './queue-pump.js';
import { RedemptionQueue } from './redemption.queue.js';
import { TransitionWriter } from './transition-writer.js';

export interface EngineParts {
  readonly database: Database;
  readonly directory: PartnerDirectory;
  readonly caller: PartnerCaller;
  readonly payouts: PayoutPort;
  /** EVIDENCE_KEY. */
  readonly evidence: EvidenceSeal;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly alerts: Alerts;
  /** 0 to 1, for the jitter of waits; default `Math.random`. */
  readonly random?: () => number;
}

export interface EngineOptions {
  /** Redemptions, and confirmations, worked at together. */
  readonly atOnce: number;
  /** Three times the longest call. */
  readonly leaseMs: number;
  /** Between two sweeps where no hint comes. */
  readonly pollMs: number;
  /** Whole tokens that one wallet may redeem in a UTC day; absent: not limited. */
  readonly walletDailyTokenBudget?: Decimal | undefined;
  /** How soon an open payout is looked at again. */
  readonly payoutPollMs: number;
  /** Where hints are listened for; absent: only the sweeps find work. */
  readonly databaseUrl?: string;
}

export function createEngine(parts: EngineParts, options: EngineOptions): Engine {
  const { database, directory, caller, payouts, clock, logger, registry, alerts } = parts;
  const { random = Math.random, evidence } = parts;
  const { atOnce, leaseMs, pollMs, payoutPollMs, databaseUrl } = options;
  const store = new RedemptionStore(database, evidence);
  const deliveries = new DeliveryStore(database);
  const metrics = new EngineMetrics(registry, new RedemptionViews(database), logger);
  const writer = new TransitionWriter({ store, clock, random, alerts, metrics });
  const booking = { writer, caller, clock };
  caller.onBack((partner) => {
    // Only sooner: each of them is due at its own time anyway.
    for (const queue of [store, deliveries]) {
      queue.hasten(partner, clock.nowMs()).catch((error: unknown) => {
        logger.warn({ err: error, partner }, 'What waits for it could not be brought forward');
      });
    }
  });
  const redemptions = new RedemptionQueue(
    {
      store,
      directory,
      writer,
      alerts,
      clock,
      logger,
      deduct: traceStep(
        'deduct',
        new DeductStep({
          ...booking,
          payouts,
          attempts: new AttemptStore(database),
          walletDailyTokenBudget: options.walletDailyTokenBudget,
        }),
      ),
      authorise: traceStep('authorise', new AuthoriseStep({ writer, payouts, logger })),
      revert: traceStep('revert', new RevertStep({ ...booking, store, payouts, logger })),
    },
    atOnce,
    leaseMs,
  );
  const observe = new ObserveStep({
    writer,
    store,
    payouts,
    metrics,
    alerts,
    clock,
    logger,
    payoutPollMs,
  });
  const confirm = new ConfirmStep({ store: deliveries, caller, alerts, clock, random });
  const observer = pumpObserver(metrics, clock, logger);
  const pumps = [
    new QueuePump(redemptions, observer),
    new QueuePump(
      new PayoutQueue(
        { store, directory, observe: traceObserving(observe), alerts, clock },
        leaseMs,
      ),
      observer,
    ),
    new QueuePump(
      new ConfirmationQueue(
        { store: deliveries, directory, confirm: traceConfirming(confirm), alerts, clock },
        atOnce,
        leaseMs,
      ),
      observer,
    ),
  ];
  return new Engine({
    pumps,
    pollMs,
    logger,
    onStopping: () => {
      redemptions.stop();
    },
    ...(databaseUrl !== undefined && {
      hints: (listener) =>
        new RedemptionHints(
          { url: databaseUrl, applicationName: `${REDEMPTION_PROGRAM} hints` },
          listener,
        ),
    }),
  });
}

function pumpObserver(metrics: EngineMetrics, clock: Clock, logger: Logger): PumpObserver {
  return {
    swept: (queue) => {
      metrics.sweptAt(queue, clock.nowMs());
    },
    failed: (queue, error) => {
      if (error instanceof StaleRedemptionError || error instanceof LeaseLostError) {
        // Two were at it, and one of them was told: as it should be.
        logger.info({ queue, code: error.code }, error.message);
        return;
      }
      metrics.failed(queue);
      logger.error({ queue, err: error }, 'A piece of work failed; it is tried again');
    },
  };
}
