/** A worker as the service runs it, with its ledger, its nodes and its partners behind seams. */
import { RpcPool } from '#libs/chain';
import {
  type AttemptStore,
  type CallbackStore,
  type CoinStore,
  type DeliveryStore,
  type KnownVaults,
  LeaseLostError,
  type LedgerRestoreStore,
  type RedemptionLeaseRequest,
  type StoredRedemption,
  type TransitionWrite,
  type RedemptionStore,
  type RedemptionViews,
} from '#libs/db';
import { type Decimal, type Redemption } from '#libs/domain';
import { PartnerClient } from '#libs/partner-client';
import { type Logger, systemClock } from '#libs/platform';
import { Registry } from '#libs/service';
import { type EvidenceKeys, type KeyRing } from '#libs/signing';
import { HighWaterMark } from '../../../apps/redemption/src/ledger/high-water-mark.js';
import { LedgerWatch } from '../../../apps/redemption/src/ledger/ledger-watch.js';
import { Alerts } from '../../../apps/redemption/src/observe/alerts.js';
import { HourlyAlerts } from '../../../apps/redemption/src/observe/hourly-alerts.js';
import { PartnerCaller, PartnerDirectory } from '../../../apps/redemption/src/partner/partners.js';
import { type VoucherPayout } from '../../../apps/redemption/src/payout/voucher-payout.js';
import { RedemptionSettings } from '../../../apps/redemption/src/redemption.env.js';
import { CancelService } from '../../../apps/redemption/src/redemptions/cancel.service.js';
import { createEngine } from '../../../apps/redemption/src/worker/create-engine.js';
import { type HintSource } from '../../../apps/redemption/src/worker/engine.js';
import { composeVouchers } from '../../../apps/redemption/test/world/compose-vouchers.js';
import { type Scheduler, type SimulatedProcess } from '../kernel/index.js';
import { CHAIN_ID, TOKEN, VAULT } from './chain.js';
import {
  MemoryAttemptStore,
  MemoryCoinStore,
  MemoryDeliveryStore,
  MemoryKnownVaults,
  type MemoryLedger,
  MemoryRedemptionStore,
  MemoryRestoreStore,
} from './ledger/index.js';
import { type SimulatedNode } from './node.js';
import { nodesThroughSeam, storeThroughSeam } from './seams.js';
import { type SimulatedWire } from './wire.js';

export const VOUCHER_TTL_SECONDS = 240;
const POLL_MS = 3_600_000;
export const PAYOUT_POLL_MS = 60_000;
const SIGNER_KEY = '11'.repeat(32);

export interface WorkerParts {
  readonly scheduler: Scheduler;
  readonly ledger: MemoryLedger;
  readonly callbacks: Pick<CallbackStore, 'list'>;
  readonly nodes: readonly SimulatedNode[];
  readonly wire: SimulatedWire;
  readonly hints: HintSource;
  readonly evidence: EvidenceKeys;
  readonly keyRing: KeyRing;
  readonly walletDailyTokenBudget: Decimal;
  readonly leaseMs: number;
  readonly clockAheadMs: number;
  readonly rpcFaultsPerMille: () => number;
  readonly databaseFaultsPerMille: () => number;
  /** Gets what a lease must prevent. */
  readonly onLease: (what: 'lost' | 'taken by another', id: string) => void;
  /** Gets each error that the engine logs. */
  readonly onError: (message: string, fields: object) => void;
}

/** The service's classes in one simulated process. */
export class SimulatedWorker {
  readonly process: SimulatedProcess;
  /** What players use; undefined until the worker is ready. */
  service: { readonly payouts: VoucherPayout; readonly cancels: CancelService } | undefined;

  constructor(
    name: string,
    private readonly parts: WorkerParts,
  ) {
    const main = (): void => void this.main();
    this.process = parts.scheduler.start(name, main, parts.clockAheadMs);
  }

  private async main(): Promise<void> {
    const { parts } = this;
    const { scheduler, ledger: tables, nodes, evidence, keyRing } = parts;
    const clock = systemClock;
    const database = { scheduler, faultsPerMille: parts.databaseFaultsPerMille };
    const seam = <T extends object>(store: T, name: string): T =>
      storeThroughSeam(store, name, database);
    const logger = this.logger();
    const registry = new Registry();
    const alerts = new Alerts(registry, logger);
    const rpc = { scheduler, faultsPerMille: parts.rpcFaultsPerMille };
    const pool = new RpcPool({
      urls: nodes.map(({ url }) => url),
      clock,
      patienceMs: 5_000,
      post: nodesThroughSeam(nodes, rpc),
    });
    const redemptions = seam(
      new LeaseWatch(tables, evidence, parts.onLease),
      'redemptions',
    ) as unknown as RedemptionStore;
    const deliveries = seam(
      new MemoryDeliveryStore(tables),
      'deliveries',
    ) as unknown as DeliveryStore;
    const attempts = seam(new MemoryAttemptStore(tables), 'attempts') as unknown as AttemptStore;
    const restores = seam(
      new MemoryRestoreStore(tables),
      'restores',
    ) as unknown as LedgerRestoreStore;
    const coins = seam(new MemoryCoinStore(tables), 'coins') as unknown as CoinStore;
    const vaults = seam(new MemoryKnownVaults(tables), 'vaults') as unknown as KnownVaults;
    const callbacks = parts.callbacks as CallbackStore;
    const directory = new PartnerDirectory(callbacks, keyRing, clock, logger);
    const client = new PartnerClient({
      ...{ clock, random: Math.random, connections: parts.wire },
      policy: { allowPrivate: false },
    });
    const mark = new HighWaterMark(undefined, new HourlyAlerts(alerts, clock), logger);
    const ledger = new LedgerWatch(restores, mark, alerts, clock, logger);
    const { payouts, conditions } = composeVouchers(workerSettings(), {
      ...{ pool, vaults, coins, ledger, alerts, clock, logger },
    });
    const caller = new PartnerCaller(client, alerts, registry);
    const views = { counts: () => Promise.reject(new Error('not read')) };
    const engine = createEngine(
      {
        stores: { redemptions, deliveries, attempts, views: views as unknown as RedemptionViews },
        ...{ hints: parts.hints, directory, caller, conditions, payouts, clock, logger, registry },
        ...{ alerts, ledger },
      },
      {
        ...{ atOnce: 8, leaseMs: parts.leaseMs, pollMs: POLL_MS, payoutPollMs: PAYOUT_POLL_MS },
        walletDailyTokenBudget: parts.walletDailyTokenBudget,
      },
    );
    await ledger.onModuleInit();
    const cancels = new CancelService(redemptions, attempts, directory, clock);
    this.service = { payouts, cancels };
    engine.start();
  }

  private logger(): Logger {
    const quiet = (): void => undefined;
    const error = (fields: unknown, message?: string): void => {
      if (typeof fields === 'object' && fields !== null) this.parts.onError(message ?? '', fields);
    };
    return { fatal: error, error, warn: quiet, info: quiet, debug: quiet, trace: quiet };
  }
}

/** Sees whether the worker writes under its own lease. */
class LeaseWatch extends MemoryRedemptionStore {
  private readonly owners = new Set<string>();

  constructor(
    private readonly tables: MemoryLedger,
    evidence: EvidenceKeys,
    private readonly tell: WorkerParts['onLease'],
  ) {
    super(tables, evidence);
  }

  override lease(request: RedemptionLeaseRequest): Promise<StoredRedemption[]> {
    this.owners.add(request.owner);
    return super.lease(request);
  }

  override leasePayout(redemption: Redemption, owner: string, leaseMs: number): Promise<boolean> {
    this.owners.add(owner);
    return super.leasePayout(redemption, owner, leaseMs);
  }

  override async apply(write: TransitionWrite): Promise<void> {
    const { id } = write.before;
    const lease = this.tables.tables.redemptions.get(id)?.lease;
    const isOurs = lease != null && this.owners.has(lease.owner);
    try {
      await super.apply(write);
    } catch (error) {
      // A user or an operator may have ended the redemption meanwhile.
      const last = this.tables.tables.transitions.get(id)?.at(-1);
      if (error instanceof LeaseLostError && last?.actor === 'worker') this.tell('lost', id);
      throw error;
    }
    if (write.actor === 'worker' && !isOurs) this.tell('taken by another', id);
  }
}

function workerSettings(): RedemptionSettings {
  return Object.assign(new RedemptionSettings(), {
    chainId: CHAIN_ID,
    vaultContract: VAULT,
    tokenContract: TOKEN,
    finality: 'finalized',
    voucherTtlSeconds: VOUCHER_TTL_SECONDS,
    vaultStartBlock: 0n,
    voucherSignerKey: SIGNER_KEY,
    gasDailyCoin: 10n ** 18n,
    vaultCancelMinUsd: { digits: 0n, scale: 0 },
  });
}
