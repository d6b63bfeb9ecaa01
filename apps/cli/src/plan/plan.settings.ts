import { Max, Min } from 'class-validator';
import {
  parseStakeViews,
  parseVerification,
  type StakeView,
  type VerificationSetting,
} from '#libs/chain';
import {
  address,
  CHAIN_ID_SETTING,
  commaList,
  FINALITY_SETTING,
  naturalBigInt,
  RPC_URLS_SETTING,
  Setting,
  url,
} from '#libs/config';
import { type Address } from '#libs/domain';

export function addresses(text: string): Address[] {
  return [...new Set(commaList(text).map(address))];
}

/**
 * The settings of `plan-sync`: the indexer's, which describe themselves in docs/operating/settings.md. What the contracts are, an index
 * knows too; where there is none they must be set.
 */
export class PlanSettings {
  @Setting({
    description: 'PostgreSQL, for what is indexed already.',
    secret: true,
    optional: true,
    parse: url('postgresql', 'postgres'),
  })
  readonly databaseUrl?: string;

  @Setting({ ...CHAIN_ID_SETTING, optional: true })
  @Min(1)
  readonly chainId?: number;

  @Setting(RPC_URLS_SETTING)
  readonly rpcUrls!: string[];

  @Setting(FINALITY_SETTING)
  readonly finality!: string;

  @Setting({ description: 'The staking contracts.', optional: true, parse: addresses })
  readonly stakeContract?: Address[];

  @Setting({ description: 'Their first block.', optional: true, parse: naturalBigInt })
  readonly stakeStartBlock?: bigint;

  @Setting({ description: 'How they tell of stakes.', optional: true })
  readonly stakeEvents?: string;

  @Setting({
    description: 'Their own total, or none.',
    optional: true,
    parse: (text) => parseStakeViews(text, 'cannot be used', 'total'),
  })
  readonly stakeTotalView?: readonly StakeView[];

  @Setting({
    description: 'Their own balance of a wallet, or none.',
    optional: true,
    parse: (text) => parseStakeViews(text, 'cannot be used', 'balance'),
  })
  readonly stakeBalanceView?: readonly StakeView[];

  @Setting({
    description: 'By what events are vouched for.',
    default: 'auto',
    parse: parseVerification,
  })
  readonly stakeVerification!: VerificationSetting;

  @Setting({ description: 'Blocks asked for at once.', default: '10000' })
  @Min(1)
  @Max(100_000)
  readonly maxRangeBlocks!: number;
}
