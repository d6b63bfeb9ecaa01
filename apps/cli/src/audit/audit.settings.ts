import { parseStakeViews, type StakeView } from '#libs/chain';
import { DatabaseSettings, RPC_URLS_SETTING, Setting } from '#libs/config';

/**
 * The settings of `audit`: what the contracts are, the index itself knows. Beside the indexer's, which describe them for
 * docs/operating/settings.md.
 */
export class AuditSettings extends DatabaseSettings {
  @Setting(RPC_URLS_SETTING)
  readonly rpcUrls!: string[];

  @Setting({ description: 'A preset or a file, for the views that it has.', optional: true })
  readonly stakeEvents?: string;

  @Setting({
    description: 'The contract’s own total, or none.',
    optional: true,
    parse: (text) => parseStakeViews(text, 'cannot be used', 'total'),
  })
  readonly stakeTotalView?: readonly StakeView[];

  @Setting({
    description: 'The contract’s own balance of a wallet, or none.',
    optional: true,
    parse: (text) => parseStakeViews(text, 'cannot be used', 'balance'),
  })
  readonly stakeBalanceView?: readonly StakeView[];
}
