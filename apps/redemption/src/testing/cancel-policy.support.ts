/** Vouchers with a budget and settings of a test's own. Named as a test file, without tests of its own. */
import { RpcPool, type VaultPlace } from '#libs/chain';
import { type CoinStore, type KnownVaults, type ReconciliationStore } from '#libs/db';
import { type Address, type Decimal, parseDecimal } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { createLogger, Registry } from '#libs/service';
import { VaultBench } from '#libs/testing/vault';
import { composeVouchers } from '../../test/world/compose-vouchers.js';
import { type LedgerWatch } from '../ledger/ledger-watch.js';
import { type Alert, Alerts } from '../observe/alerts.js';
import { type CommittedPayout } from '../payout/payout.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { Reconciler } from '../reconciliation/reconciler.js';
import { RedemptionSettings } from '../redemption.env.js';

export const FIFTY_USD = parseDecimal('50.00');
const logger = createLogger({ app: 'test', level: 'silent' });

/** Settings of which only the given ones are set. */
export function someSettings(
  settings: Partial<Omit<RedemptionSettings, 'vaultPlace'>>,
): RedemptionSettings {
  return Object.assign(new RedemptionSettings(), settings);
}

/** Passes each alert to the callback, and does not count it. */
export function alertsTo(raise: (alert: Alert) => void): Alerts {
  return Object.assign(new Alerts(new Registry(), logger), { raise });
}

/** When vouchers are cancelled on chain, and what that may cost. */
export interface CancelPolicy {
  readonly dailyWei: bigint;
  readonly coins: Pick<CoinStore, 'reserve' | 'spent'>;
  readonly minUsd: Decimal;
  readonly logger: Logger;
  readonly raise: (alert: Alert) => void;
}

/** Cancels every voucher, at any price of a local chain, and counts no coin. */
export function aCancelPolicy(changes: Partial<CancelPolicy> = {}): CancelPolicy {
  return {
    dailyWei: 10n ** 18n,
    coins: { reserve: () => Promise.resolve(true), spent: () => Promise.resolve(0n) },
    minUsd: parseDecimal('0'),
    logger,
    raise: () => undefined,
    ...changes,
  };
}

export interface VoucherPayoutOptions {
  readonly pool: RpcPool;
  readonly place: VaultPlace;
  readonly token: Address;
  readonly voucherTtlSeconds: number;
  readonly expiryMarginSeconds: number;
  readonly vaults: Pick<KnownVaults, 'of' | 'add'>;
  /** Default: a ledger that never went back. */
  readonly ledger: Pick<LedgerWatch, 'requireNoted'>;
  readonly signerKey: string;
  /** Default: the signer's key. */
  readonly cancellerKey: string;
  readonly cancelling: CancelPolicy;
}

type Vouchers = ReturnType<typeof composeVouchers>;

/** Vouchers on the vault of a bench. By default the chain is asked directly, and no other vault is known. */
export function vouchersOn(
  bench: VaultBench,
  clock: Clock,
  changes: Partial<VoucherPayoutOptions> = {},
): Vouchers {
  const { place = bench.place, cancelling = aCancelPolicy(), cancellerKey } = changes;
  const { dailyWei, coins, minUsd, raise, logger } = cancelling;
  const urls = [bench.chain.url];
  const pool = changes.pool ?? new RpcPool({ urls, clock, sleep: () => Promise.resolve() });
  const noVaults = { of: () => Promise.resolve([]), add: () => Promise.resolve() };
  const settings = someSettings({
    chainId: place.chainId,
    vaultContract: place.vault,
    tokenContract: changes.token ?? bench.chain.contracts.token,
    finality: 'finalized',
    voucherTtlSeconds: changes.voucherTtlSeconds ?? 600,
    payoutExpiryMarginSeconds: changes.expiryMarginSeconds ?? 0,
    vaultStartBlock: 0n,
    voucherSignerKey: changes.signerKey ?? VaultBench.SIGNER_KEY,
    ...(cancellerKey !== undefined && { vaultCancellerKey: cancellerKey }),
    gasDailyCoin: dailyWei,
    vaultCancelMinUsd: minUsd,
  });
  return composeVouchers(settings, {
    ...{ pool, clock, alerts: alertsTo(raise), logger },
    vaults: (changes.vaults ?? noVaults) as KnownVaults,
    coins: coins as CoinStore,
    ledger: (changes.ledger ?? { requireNoted: () => Promise.resolve() }) as LedgerWatch,
  });
}

export function aVoucherPayout(...args: Parameters<typeof vouchersOn>): VoucherPayout {
  return vouchersOn(...args).payouts;
}

/** The reconciliation of the vault of a bench. By default the chain is asked directly. */
export function aReconciler(
  bench: VaultBench,
  clock: Clock,
  given: {
    readonly store: ReconciliationStore;
    readonly raise: (alert: Alert) => void;
    readonly place?: VaultPlace;
    readonly finality?: string;
    readonly pool?: RpcPool;
  },
): Reconciler {
  const { place = bench.place, finality = 'finalized', store, raise } = given;
  const settings = someSettings({
    chainId: place.chainId,
    vaultContract: place.vault,
    tokenContract: bench.chain.contracts.token,
    finality,
    vaultStartBlock: 0n,
  });
  const pool =
    given.pool ?? new RpcPool({ urls: [bench.chain.url], clock, sleep: () => Promise.resolve() });
  return new Reconciler(settings, pool, store, alertsTo(raise), clock, logger);
}

/** Requests a cancellation, and resolves once the vault was asked. */
export function cancelled(payouts: VoucherPayout, payout: CommittedPayout): Promise<void> {
  payouts.requestCancel(payout, FIFTY_USD);
  return payouts.cancelsSent();
}
