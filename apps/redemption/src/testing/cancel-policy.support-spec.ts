/** Counts as a test file without being one. */
import { type GasCaps, type RpcPool, type VaultPlace } from '#libs/chain';
import { type CoinStore, type KnownVaults } from '#libs/db';
import { type Address, type Decimal, parseDecimal } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { createLogger, Registry } from '#libs/service';
import { composeVouchers } from '../../test/world/compose-vouchers.js';
import { type Alert, Alerts } from '../observe/alerts.js';
import { type CommittedPayout } from '../payout/payout-port.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { RedemptionSettings } from '../redemption.env.js';

export const FIFTY_USD = parseDecimal('50.00');
const logger = createLogger({ app: 'test', level: 'silent' });

/** These settings, and no others. */
export function someSettings(
  settings: Partial<Omit<RedemptionSettings, 'vaultPlace'>>,
): RedemptionSettings {
  return Object.assign(new RedemptionSettings(), settings);
}

/** Hands each alert over instead of counting it. */
export function alertsTo(raise: (alert: Alert) => void): Alerts {
  return Object.assign(new Alerts(new Registry(), logger), { raise });
}

/** When a voucher is cancelled on chain, and what that may cost. */
export interface CancelPolicy {
  readonly caps: GasCaps;
  readonly dailyWei: bigint;
  readonly coins: Pick<CoinStore, 'reserve' | 'spent'>;
  readonly minUsd: Decimal;
  readonly logger: Logger;
  readonly raise: (alert: Alert) => void;
}

/** Cancels all, at whatever a local chain asks for, and counts no coin. */
export function aCancelPolicy(changes: Partial<CancelPolicy> = {}): CancelPolicy {
  return {
    caps: { maxGasPrice: 500n * 10n ** 9n, maxGas: 1_000_000n },
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
  readonly clock: Clock;
  readonly place: VaultPlace;
  readonly token: Address;
  readonly finality: string;
  readonly voucherTtlSeconds: number;
  readonly expiryMarginSeconds?: number;
  readonly startBlock?: bigint;
  readonly vaults: Pick<KnownVaults, 'of' | 'add'>;
  readonly signerKey: string;
  readonly cancellerKey?: string | undefined;
  readonly cancelling: CancelPolicy;
}

export function aVoucherPayout(options: VoucherPayoutOptions): VoucherPayout {
  const { pool, clock, place, cancelling, cancellerKey } = options;
  const { caps, dailyWei, coins, minUsd, raise } = cancelling;
  const settings = someSettings({
    chainId: place.chainId,
    vaultContract: place.vault,
    tokenContract: options.token,
    finality: options.finality,
    voucherTtlSeconds: options.voucherTtlSeconds,
    payoutExpiryMarginSeconds: options.expiryMarginSeconds ?? 0,
    vaultStartBlock: options.startBlock ?? 0n,
    voucherSignerKey: options.signerKey,
    ...(cancellerKey !== undefined && { vaultCancellerKey: cancellerKey }),
    vaultMaxGasPriceGwei: caps.maxGasPrice,
    vaultMaxGas: Number(caps.maxGas),
    vaultDailyCoin: dailyWei,
    vaultCancelMinUsd: minUsd,
  });
  return composeVouchers(settings, {
    ...{ pool, clock, alerts: alertsTo(raise), logger: cancelling.logger },
    vaults: options.vaults as KnownVaults,
    coins: coins as CoinStore,
  });
}

/** Returns when the vault was asked. */
export function cancelled(payouts: VoucherPayout, payout: CommittedPayout): Promise<void> {
  payouts.requestCancel(payout, FIFTY_USD);
  return payouts.cancelsSent();
}
