/** Settings of the indexer that commands read too; docs/operating/settings.md lists them as the indexer's. */
import { STAKE_BALANCE_VIEW_SETTING, STAKE_TOTAL_VIEW_SETTING, type StakeView } from '#libs/chain';
import { RPC_URLS_SETTING, Setting, STAKE_EVENTS_SETTING } from '#libs/config';
import { StakingSettings } from '#libs/operations';
import { StakeSetSettings } from './cli.env.js';

/** The settings of `audit`: what the contracts are, the index itself knows. */
export class AuditSettings extends StakeSetSettings {
  @Setting(RPC_URLS_SETTING)
  readonly rpcUrls!: string[];

  @Setting({ ...STAKE_EVENTS_SETTING, optional: true })
  readonly stakeEvents?: string;

  @Setting(STAKE_TOTAL_VIEW_SETTING)
  readonly stakeTotalView?: readonly StakeView[];

  @Setting(STAKE_BALANCE_VIEW_SETTING)
  readonly stakeBalanceView?: readonly StakeView[];
}

/** The settings of `plan-sync`. */
export class PlanSettings extends StakingSettings {
  @Setting(RPC_URLS_SETTING)
  override readonly rpcUrls: string[] = [];
}
