import { Module } from '@nestjs/common';
import { CoinStore, Database, KnownVaults } from '#libs/db';
import { provide } from '#libs/service';
import { GasBudget } from '../chain/gas-budget.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { CancelRequests } from './cancel-requests.js';
import { EveryVault } from './every-vault.js';
import { RefusalCounter } from './payout-refusal.js';
import { VaultAccounts } from './vault-accounts.js';
import { VaultConditions } from './vault-conditions.js';
import { VaultGauges } from './vault.gauges.js';
import { VoucherPayout } from './voucher-payout.js';

/**
 * Pays by vouchers on the vault. Other modules pay by `VoucherPayout`, ask `VaultConditions`, or send as one of the
 * accounts.
 */
@Module({
  imports: [LedgerModule],
  providers: [
    CancelRequests,
    EveryVault,
    GasBudget,
    RefusalCounter,
    VaultAccounts,
    VaultConditions,
    VaultGauges,
    VoucherPayout,
    provide(CoinStore, Database),
    provide(KnownVaults, Database),
  ],
  exports: [RefusalCounter, VaultAccounts, VaultConditions, VoucherPayout],
})
export class PayoutModule {}
