import { type RpcPool, type VaultPlace } from '#libs/chain';
import { type Database, ReconciliationStore } from '#libs/db';
import { type Address } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type Registry } from '#libs/service';
import { type Alerts } from '../observe/alerts.js';
import { Reconciler } from './reconciler.js';
import { gaugeReconciliation } from './reconciliation.metrics.js';
import { ReconciliationService } from './reconciliation.service.js';

export interface ReconciliationParts {
  readonly pool: RpcPool;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly alerts: Alerts;
}

export interface ReconciliationOptions {
  readonly place: VaultPlace;
  readonly token: Address;
  /** Undefined until the chain was reached. */
  readonly tokenDecimals: () => number | undefined;
  readonly finality: string;
  readonly startBlock: bigint;
}

/** The daily reconciliation as a provider, with its metrics. */
export function createReconciliation(
  { registry, database, alerts, ...parts }: ReconciliationParts,
  { tokenDecimals, ...options }: ReconciliationOptions,
): ReconciliationService {
  const { clock, logger } = parts;
  const store = new ReconciliationStore(database);
  const reconciler = new Reconciler(
    {
      ...parts,
      store,
      raise: (alert) => {
        alerts.raise(alert);
      },
    },
    options,
  );
  gaugeReconciliation(registry, { store, logger, tokenDecimals });
  return new ReconciliationService({ reconciler, store, clock, logger });
}
