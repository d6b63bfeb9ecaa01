import { DatabaseSettings, RPC_URLS_SETTING, Setting } from '#libs/config';

/**
 * The settings of `audit`: what the contracts are, the index itself knows. Beside the indexer's, which describe them for
 * docs/operating/settings.md.
 */
export class AuditSettings extends DatabaseSettings {
  @Setting(RPC_URLS_SETTING)
  readonly rpcUrls!: string[];

  @Setting({ description: 'The contract’s own total, or none.', optional: true })
  readonly stakeTotalView?: string;

  @Setting({ description: 'The contract’s own balance of a wallet, or none.', optional: true })
  readonly stakeBalanceView?: string;
}
