import {
  CHAIN_ID_SETTING,
  FINALITY_SETTING,
  INDEX_MAX_LAG_SETTING,
  MAX_RANGE_BLOCKS_SETTING,
  NODE_ENV_SETTING,
  oneOf,
  RPC_URLS_SETTING,
  ServiceSettings,
  Setting,
  STAKE_CONTRACT_SETTING,
  STAKE_EVENTS_SETTING,
  STAKE_SET_SETTING,
  STAKE_START_BLOCK_SETTING,
  TOKEN_CONTRACT_SETTING,
  TOKEN_DECIMALS_SETTING,
  TOKEN_SYMBOL_SETTING,
} from '#libs/config';
import { STAKE_VERIFICATION_SETTING, type VerificationSetting } from '#libs/chain';
import { type IndexPart } from '#libs/db';
import { type Address, type Decimal } from '#libs/domain';
import {
  NotBelowMinimum,
  PRICE_MAX_AGE_SETTING,
  PRICE_MAX_CHANGE_PER_HOUR_SETTING,
  PRICE_MAX_CHANGE_SETTING,
  PRICE_MAX_SETTING,
  PRICE_MAX_SPREAD_SETTING,
  PRICE_MIN_SETTING,
  PRICE_SOURCE_SETTING,
  type PriceSource,
} from '#libs/price';

function auditHour(text: string): number | 'off' {
  if (text === 'off') return text;
  if (!/^\d{1,2}$/.test(text) || Number(text) > 23) throw new Error('must be off, or 0 to 23');
  return Number(text);
}

function auditSample(text: string): number | 'all' {
  if (text === 'all') return text;
  if (!/^\d{1,6}$/.test(text) || Number(text) < 1 || Number(text) > 100_000)
    throw new Error('must be all, or 1 to 100000');
  return Number(text);
}

export class IndexerSettings extends ServiceSettings {
  @Setting(STAKE_SET_SETTING)
  readonly stakeSet!: string;

  @Setting({
    description:
      'Which index is written: current, or next, the new one beside it. For the indexer that the command `index again` starts; leave it unset otherwise.',
    default: 'current',
    parse: oneOf(['current', 'next']),
  })
  readonly indexPart!: Exclude<IndexPart, 'before'>;

  @Setting(CHAIN_ID_SETTING)
  readonly chainId!: number;

  @Setting(RPC_URLS_SETTING)
  readonly rpcUrls!: string[];

  @Setting(FINALITY_SETTING)
  readonly finality!: string;

  @Setting(STAKE_CONTRACT_SETTING)
  readonly stakeContract!: [Address, ...Address[]];

  @Setting(STAKE_START_BLOCK_SETTING)
  readonly stakeStartBlock!: bigint;

  @Setting({ ...STAKE_EVENTS_SETTING, default: 'staked-withdrawn' })
  readonly stakeEvents!: string;

  @Setting(STAKE_VERIFICATION_SETTING)
  readonly stakeVerification!: VerificationSetting;

  @Setting(TOKEN_CONTRACT_SETTING)
  readonly tokenContract!: Address;

  @Setting(TOKEN_SYMBOL_SETTING)
  readonly tokenSymbol?: string;

  @Setting(TOKEN_DECIMALS_SETTING)
  readonly tokenDecimals?: number;

  @Setting({
    description: 'How often the chain is asked for new blocks.',
    default: '2000',
    min: 50,
    max: 60_000,
  })
  readonly pollIntervalMs!: number;

  @Setting(MAX_RANGE_BLOCKS_SETTING)
  readonly maxRangeBlocks!: number;

  @Setting(INDEX_MAX_LAG_SETTING)
  readonly indexMaxLagSeconds!: number;

  @Setting({
    description:
      'The hour of the day in UTC, 0 to 23, from which on balances and their sum are compared with the contract’s own each night; off: never.',
    default: '3',
    parse: auditHour,
  })
  readonly auditHourUtc!: number | 'off';

  @Setting({
    description:
      'How many wallets are compared each night, drawn at random, or all. The sum is that of all in any case.',
    default: '1000',
    parse: auditSample,
  })
  readonly auditSample!: number | 'all';

  @Setting({
    description:
      'Of how many of the newest sealed days proofs and lists are kept, some 120 bytes for each wallet and day; roots are kept for ever.',
    default: '35',
    min: 0,
    max: 10_000,
  })
  readonly sealKeptDays!: number;

  @Setting(PRICE_SOURCE_SETTING)
  readonly priceSource!: readonly PriceSource[];

  @Setting(PRICE_MAX_AGE_SETTING)
  readonly priceMaxAgeSeconds!: number;

  @Setting(PRICE_MIN_SETTING)
  readonly priceMinUsd?: Decimal;

  @Setting(PRICE_MAX_SETTING)
  @NotBelowMinimum()
  readonly priceMaxUsd?: Decimal;

  @Setting(PRICE_MAX_CHANGE_SETTING)
  readonly priceMaxChange!: Decimal;

  @Setting(PRICE_MAX_CHANGE_PER_HOUR_SETTING)
  readonly priceMaxChangePerHour!: Decimal;

  @Setting(PRICE_MAX_SPREAD_SETTING)
  readonly priceMaxSpread!: Decimal;

  @Setting({ description: 'The port of health and metrics.', default: '3001', min: 0, max: 65_535 })
  readonly indexerPort!: number;

  @Setting({
    description: 'The address that health and metrics listen on.',
    default: '0.0.0.0',
  })
  readonly indexerHost!: string;

  @Setting(NODE_ENV_SETTING)
  readonly nodeEnv?: string;
}
