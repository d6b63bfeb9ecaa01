import { type RpcPool } from '#libs/chain';
import { CoinStore, type Database, KnownVaults } from '#libs/db';
import { type Clock, type Logger } from '#libs/platform';
import { type Alerts } from '../observe/alerts.js';
import { type RedemptionSettings } from '../redemption.env.js';
import { type GasPolicy } from './vault-account.factory.js';
import { VoucherPayout } from './voucher-payout.js';

export interface VoucherParts {
  readonly settings: RedemptionSettings;
  readonly pool: RpcPool;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerts: Alerts;
}

/** What cancellations and pauses may cost, by the settings. */
export function gasPolicy({ settings, database }: VoucherParts): GasPolicy {
  const { vaultMaxGasPriceGwei: maxGasPrice, vaultMaxGas, vaultDailyCoin: dailyWei } = settings;
  const caps = { maxGasPrice, maxGas: BigInt(vaultMaxGas) };
  return { caps, dailyWei, coins: new CoinStore(database) };
}

/** The way of paying that the settings describe. */
export function createVouchers(parts: VoucherParts): VoucherPayout {
  const { settings, pool, clock, database, logger, alerts } = parts;
  const { chainId, vaultContract: vault, finality, voucherTtlSeconds, vaultStartBlock } = settings;
  return new VoucherPayout({
    pool,
    clock,
    place: { chainId, vault },
    token: settings.tokenContract,
    finality,
    voucherTtlSeconds,
    expiryMarginSeconds: settings.payoutExpiryMarginSeconds,
    startBlock: vaultStartBlock,
    vaults: new KnownVaults(database),
    signerKey: settings.voucherSignerKey,
    cancellerKey: settings.vaultCancellerKey,
    cancelling: {
      ...gasPolicy(parts),
      minUsd: settings.vaultCancelMinUsd,
      logger,
      raise: (alert) => {
        alerts.raise(alert);
      },
    },
  });
}
