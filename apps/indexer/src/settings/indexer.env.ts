import {
  CHAIN_ID_SETTING,
  Constant,
  FINALITY_SETTING,
  INDEX_MAX_LAG_SETTING,
  LISTEN_HOST_SETTING,
  MAX_RANGE_BLOCKS,
  NODE_ENV_SETTING,
  oneOf,
  PRICE_MAX_AGE_SETTING,
  RPC_URLS_SETTING,
  ServiceSettings,
  Setting,
  STAKE_CONTRACT_SETTING,
  STAKE_EVENTS_SETTING,
  STAKE_SET_SETTING,
  STAKE_START_BLOCK_SETTING,
  TOKEN_CONTRACT_SETTING,
} from '#libs/config';
import { STAKE_VERIFICATION_SETTING, type VerificationSetting } from '#libs/chain';
import { type IndexPart } from '#libs/db';
import { type Address, type Decimal } from '#libs/domain';
import {
  MAX_CHANGE,
  PRICE_BOUNDS_SETTING,
  PRICE_SOURCE_SETTING,
  type PriceBounds,
  type PriceSource,
} from '#libs/price';

function auditHour(text: string): number | 'off' {
  if (text === 'off') return text;
  if (!/^\d{1,2}$/.test(text) || Number(text) > 23) throw new Error('must be off, or 0 to 23');
  return Number(text);
}

export class IndexerSettings extends ServiceSettings {
  @Setting(STAKE_SET_SETTING)
  readonly stakeSet!: string;

  @Setting({
    description:
      'Which index is written: current, or next, the new one beside it. For the indexer that the command `index again` starts.',
    default: 'current',
    unlisted: true,
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

  /** Between two polls for new blocks: far below INDEX_MAX_LAG_SECONDS, and a call each. */
  @Constant()
  readonly pollIntervalMs: number = 2_000;

  @Constant()
  readonly maxRangeBlocks: number = MAX_RANGE_BLOCKS;

  @Setting(INDEX_MAX_LAG_SETTING)
  readonly indexMaxLagSeconds!: number;

  @Setting({
    description:
      'The hour of the day in UTC, 0 to 23, from which on balances and their sum are compared with the contract’s own each night; off: never.',
    default: '3',
    parse: auditHour,
  })
  readonly auditHourUtc!: number | 'off';

  /** Wallets compared each night: with 95 % a wrong one is among them if 3 of 1,000 are wrong. The sum is that of all. */
  readonly auditSample: number | 'all' = 1_000;

  /** Newest sealed days with stored proofs and lists, 120 bytes for each wallet and day: the longest window has 30 days. */
  @Constant()
  readonly sealKeptDays: number = 35;

  @Setting(PRICE_SOURCE_SETTING)
  readonly priceSource!: readonly PriceSource[];

  @Setting(PRICE_MAX_AGE_SETTING)
  readonly priceMaxAgeSeconds?: number;

  @Setting(PRICE_BOUNDS_SETTING)
  readonly priceBoundsUsd?: PriceBounds;

  readonly priceMaxChange: Decimal = MAX_CHANGE;

  @Setting({ description: 'The port of health and metrics.', default: '3001', min: 0, max: 65_535 })
  readonly indexerPort!: number;

  @Setting(LISTEN_HOST_SETTING)
  readonly listenHost!: string;

  @Setting(NODE_ENV_SETTING)
  readonly nodeEnv?: string;
}
