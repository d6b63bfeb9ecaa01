import { Inject, Injectable } from '@nestjs/common';
import { formatCoin, GasRefusedError, RpcPool, VaultAccount, VoucherSigner } from '#libs/chain';
import { CoinStore } from '#libs/db';
import { type UuidV7 } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { type Alert } from '../observe/alerts.js';
import { RedemptionSettings } from '../redemption.env.js';

/**
 * The service's keys for the vault. The accounts that send transactions sign nothing above the gas and coin that the
 * settings allow.
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
    private readonly coins: CoinStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    const { voucherSignerKey, vaultCancellerKey = voucherSignerKey, vaultPauserKey } = settings;
    this.signer = new VoucherSigner(settings.vaultPlace, voucherSignerKey);
    this.canceller = this.accountOf(vaultCancellerKey);
    this.pauser = vaultPauserKey === undefined ? undefined : this.accountOf(vaultPauserKey);
  }

  private accountOf(privateKey: string): VaultAccount {
    const { chainId, vaultMaxGasPriceGwei: maxGasPrice, vaultMaxGas } = this.settings;
    const caps = { maxGasPrice, maxGas: BigInt(vaultMaxGas) };
    const account: VaultAccount = new VaultAccount({
      ...{ pool: this.pool, chainId, privateKey, caps },
      reserve: (wei) => this.reserve(account, wei),
    });
    return account;
  }

  /** @throws GasRefusedError where the day's coin does not suffice */
  private async reserve({ address: account }: VaultAccount, wei: bigint): Promise<void> {
    const { coins, clock } = this;
    const { chainId, vaultDailyCoin: dailyWei } = this.settings;
    const day = { chainId, account, nowMs: clock.nowMs() };
    if (await coins.reserve({ ...day, wei, dailyWei })) return;
    const spent = await coins.spent(chainId, account, day.nowMs);
    throw new GasRefusedError(
      'coin',
      `it may cost ${formatCoin(wei)} of the chain's coin, and ${formatCoin(spent)} of the day's ${formatCoin(dailyWei)} (VAULT_DAILY_COIN) are spent`,
    );
  }
}

/** The detail carries the error's message, which names both figures: the one asked for and the one allowed. */
export function gasAlert(
  { figure, message }: GasRefusedError,
  of: { readonly what: string; readonly account: string; readonly redemptionId?: UuidV7 },
): Alert {
  const { what, account, redemptionId } = of;
  return {
    severity: 'warning',
    code: `vault-${figure}-refused`,
    detail: `${what} by ${account} was not signed: ${message}`,
    ...(redemptionId !== undefined && { redemptionId }),
  };
}
