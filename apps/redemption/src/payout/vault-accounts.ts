import { Injectable } from '@nestjs/common';
import { type GasRefusedError, RpcPool, VaultAccount, VoucherSigner } from '#libs/chain';
import { type UuidV7 } from '#libs/domain';
import { GasBudget } from '../chain/gas-budget.js';
import { type Alert } from '../observe/alerts.js';
import { RedemptionSettings } from '../redemption.env.js';

/**
 * The service's keys for the vault. The accounts that send transactions sign nothing beyond the gas budget.
 */
@Injectable()
export class VaultAccounts {
  readonly signer: VoucherSigner;
  readonly canceller: VaultAccount;
  /** Undefined where only a person can pause the vault. */
  readonly pauser: VaultAccount | undefined;

  /** @throws PermanentError where a setting is not a key; the message does not repeat it */
  constructor(
    private readonly settings: RedemptionSettings,
    private readonly pool: RpcPool,
    private readonly budget: GasBudget,
  ) {
    const { voucherSignerKey, vaultCancellerKey = voucherSignerKey, vaultPauserKey } = settings;
    this.signer = new VoucherSigner(settings.vaultPlace, voucherSignerKey);
    this.canceller = this.accountOf(vaultCancellerKey);
    this.pauser = vaultPauserKey === undefined ? undefined : this.accountOf(vaultPauserKey);
  }

  private accountOf(privateKey: string): VaultAccount {
    const { pool, budget } = this;
    const { chainId } = this.settings;
    const account: VaultAccount = new VaultAccount({
      ...{ pool, chainId, privateKey, maxWei: budget.maxWei },
      reserve: (wei) => budget.reserve(account.address, wei),
    });
    return account;
  }
}

/** The detail carries the error's message, which names the cost and the limit. */
export function gasAlert(
  { message }: GasRefusedError,
  of: { readonly what: string; readonly account: string; readonly redemptionId?: UuidV7 },
): Alert {
  const { what, account, redemptionId } = of;
  return {
    severity: 'warning',
    code: 'vault-gas-refused',
    detail: `${what} by ${account} was not signed: ${message}`,
    ...(redemptionId !== undefined && { redemptionId }),
  };
}
