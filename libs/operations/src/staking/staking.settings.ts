/**
 * Settings of the indexer that operators' commands also read. docs/operating/settings.md lists them under the indexer.
 */
import { STAKE_VERIFICATION_SETTING, type VerificationSetting } from '#libs/chain';
import {
  CHAIN_ID_SETTING,
  DATABASE_DIRECT_URL_SETTING,
  databaseUrl,
  FINALITY_SETTING,
  RPC_URLS_SETTING,
  Setting,
  STAKE_CONTRACT_SETTING,
  STAKE_EVENTS_SETTING,
  STAKE_SET_SETTING,
  STAKE_START_BLOCK_SETTING,
} from '#libs/config';
import { type Address } from '#libs/domain';

/**
 * Settings for reading the chain and the staking contracts, all optional. An index stores which contracts it covers, so
 * the contracts have to be set only where there is no index.
 */
export class StakingSettings {
  @Setting({
    description: 'PostgreSQL.',
    secret: true,
    optional: true,
    parse: databaseUrl,
  })
  readonly databaseUrl?: string;

  @Setting(DATABASE_DIRECT_URL_SETTING)
  readonly databaseDirectUrl?: string;

  @Setting(STAKE_SET_SETTING)
  readonly stakeSet!: string;

  @Setting({ ...CHAIN_ID_SETTING, optional: true })
  readonly chainId?: number;

  @Setting({ ...RPC_URLS_SETTING, optional: true })
  readonly rpcUrls?: string[];

  @Setting(FINALITY_SETTING)
  readonly finality!: string;

  @Setting({ ...STAKE_CONTRACT_SETTING, optional: true })
  readonly stakeContract?: Address[];

  @Setting({ ...STAKE_START_BLOCK_SETTING, optional: true })
  readonly stakeStartBlock?: bigint;

  @Setting({ ...STAKE_EVENTS_SETTING, optional: true })
  readonly stakeEvents?: string;

  @Setting(STAKE_VERIFICATION_SETTING)
  readonly stakeVerification!: VerificationSetting;
}
