import { formatCoin, type GasCaps, GasRefusedError, type RpcPool, VaultAccount } from '#libs/chain';
import { type CoinStore } from '#libs/db';
import { type Clock } from '#libs/platform';

/** What the transactions of the service's accounts may cost. */
export interface GasPolicy {
  readonly caps: GasCaps;
  /** For each account, on a UTC day, in the smallest unit of the chain's coin. */
  readonly dailyWei: bigint;
  readonly coins: Pick<CoinStore, 'reserve' | 'spent'>;
}

/** An account that signs nothing beyond the policy. @throws PermanentError where it is not a key; the message does not repeat it */
export function createVaultAccount(
  chain: { readonly pool: RpcPool; readonly chainId: number; readonly clock: Clock },
  privateKey: string,
  { caps, dailyWei, coins }: GasPolicy,
): VaultAccount {
  const { pool, chainId, clock } = chain;
  const account: VaultAccount = new VaultAccount({
    ...{ pool, chainId, privateKey, caps },
    reserve: async (wei) => {
      const day = { chainId, account: account.address, nowMs: clock.nowMs() };
      if (await coins.reserve({ ...day, wei, dailyWei })) return;
      const spent = await coins.spent(chainId, account.address, day.nowMs);
      throw new GasRefusedError(
        'coin',
        `it may cost ${formatCoin(wei)} of the chain's coin, and ${formatCoin(spent)} of the day's ${formatCoin(dailyWei)} (VAULT_DAILY_COIN) are spent`,
      );
    },
  });
  return account;
}
