/** Wires payouts by vouchers without a container, as `PayoutModule` does. */
import { type RpcPool } from '#libs/chain';
import { type CoinStore, type KnownVaults } from '#libs/db';
import { type Clock, type Logger } from '#libs/platform';
import { GasBudget } from '../../src/chain/gas-budget.js';
import { type LedgerWatch } from '../../src/ledger/ledger-watch.js';
import { type Alerts } from '../../src/observe/alerts.js';
import { CancelRequests } from '../../src/payout/cancel-requests.js';
import { EveryVault } from '../../src/payout/every-vault.js';
import { VaultAccounts } from '../../src/payout/vault-accounts.js';
import { VaultConditions } from '../../src/payout/vault-conditions.js';
import { VoucherPayout } from '../../src/payout/voucher-payout.js';
import { type RedemptionSettings } from '../../src/redemption.env.js';

interface VoucherTools {
  readonly pool: RpcPool;
  readonly vaults: KnownVaults;
  readonly coins: CoinStore;
  readonly ledger: LedgerWatch;
  readonly alerts: Alerts;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function composeVouchers(
  settings: RedemptionSettings,
  tools: VoucherTools,
): { readonly payouts: VoucherPayout; readonly conditions: VaultConditions } {
  const { pool, vaults, coins, ledger, alerts, clock, logger } = tools;
  const accounts = new VaultAccounts(settings, pool, new GasBudget(settings, coins, clock));
  const conditions = new VaultConditions(settings, pool, accounts, clock);
  const cancels = new CancelRequests(settings, pool, accounts, alerts, clock, logger);
  const every = new EveryVault(settings, pool, vaults, clock);
  return {
    payouts: new VoucherPayout(settings, pool, vaults, accounts, cancels, every, ledger, clock),
    conditions,
  };
}
