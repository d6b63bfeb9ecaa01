import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { REDEMPTION_STATES, type RedemptionState } from '#libs/domain';
import {
  ADDRESS,
  BLOCK,
  BLOCK_OR_NULL,
  COUNT,
  DECIMAL,
  DECIMAL_OR_NULL,
  SECONDS_OR_NULL,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
} from '../schema.js';

export const SERVICES = ['api', 'indexer', 'redemption'] as const;
export const SERVICE_STATES = ['ready', 'not-ready', 'no-answer', 'not-set'] as const;

@ApiSchema({ name: 'SyncProgress', description: 'What the indexer says of itself.' })
export class SyncBody {
  @ApiProperty(TEXT)
  readonly phase!: string;

  @ApiProperty({ ...SECONDS_OR_NULL, description: 'Of the blocks from the first one on.' })
  readonly percent!: number | null;

  @ApiProperty({ ...SECONDS_OR_NULL, description: 'Until it is level with the chain.' })
  readonly secondsLeft!: number | null;

  @ApiProperty(SECONDS_OR_NULL)
  readonly blocksPerSecond!: number | null;

  @ApiProperty(SECONDS_OR_NULL)
  readonly chainHeadBlock!: number | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'What vouches for events now.' })
  readonly verification!: string | null;
}

@ApiSchema({ name: 'Service' })
export class ServiceBody {
  @ApiProperty({ enum: SERVICES })
  readonly name!: (typeof SERVICES)[number];

  @ApiProperty({ enum: SERVICE_STATES })
  readonly state!: (typeof SERVICE_STATES)[number];

  @ApiProperty({ type: [String], description: 'Why it is not ready, in sentences.' })
  readonly reasons!: string[];

  @ApiProperty({ ...TEXT, description: 'The setting that says where it is.' })
  readonly setting!: string;

  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/SyncProgress' }, { type: 'null' }],
    description: 'Of the indexer.',
  })
  readonly sync!: SyncBody | null;
}

@ApiSchema({ name: 'Services' })
export class ServicesBody {
  @ApiProperty({ type: [ServiceBody] })
  readonly services!: ServiceBody[];
}

@ApiSchema({ name: 'Halt' })
export class HaltBody {
  @ApiProperty(TIME)
  readonly at!: string;

  @ApiProperty(TEXT)
  readonly reason!: string;
}

@ApiSchema({ name: 'Index' })
export class IndexBody {
  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly chainId!: number;

  @ApiProperty({ type: [String] })
  readonly contracts!: string[];

  @ApiProperty(TEXT)
  readonly tokenSymbol!: string;

  @ApiProperty({ ...BLOCK, description: 'The newest indexed block.' })
  readonly headBlock!: string;

  @ApiProperty(TIME)
  readonly headAt!: string;

  @ApiProperty({ type: 'number', description: 'How far its time is behind the clock.' })
  readonly lagSeconds!: number;

  @ApiProperty(BLOCK_OR_NULL)
  readonly finalisedBlock!: string | null;

  @ApiProperty({ ...BLOCK_OR_NULL, description: 'Up to here the events are vouched for.' })
  readonly verifiedBlock!: string | null;

  @ApiProperty({ ...DECIMAL, description: 'Staked by all wallets, in whole tokens.' })
  readonly total!: string;

  @ApiProperty({ ...TIME_OR_NULL, description: 'When it was last level with the chain.' })
  readonly syncedAt!: string | null;

  @ApiProperty({ anyOf: [{ $ref: '#/components/schemas/Halt' }, { type: 'null' }] })
  readonly halted!: HaltBody | null;
}

@ApiSchema({ name: 'StakeSet' })
export class StakeSetBody {
  @ApiProperty(TEXT)
  readonly stakeSet!: string;

  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/Index' }, { type: 'null' }],
    description: 'Null before the indexer has made it.',
  })
  readonly index!: IndexBody | null;
}

@ApiSchema({ name: 'StakeSets' })
export class StakeSetsBody {
  @ApiProperty({ type: [StakeSetBody] })
  readonly sets!: StakeSetBody[];
}

@ApiSchema({ name: 'StoredPrice' })
export class StoredPriceBody {
  @ApiProperty({ ...DECIMAL, description: 'US dollars for one token.' })
  readonly usd!: string;

  @ApiProperty({ ...TEXT, description: 'As in PRICE_SOURCE, without credentials.' })
  readonly source!: string;

  @ApiProperty(TIME)
  readonly observedAt!: string;
}

@ApiSchema({ name: 'HeldPrice' })
export class HeldPriceBody extends StoredPriceBody {
  @ApiProperty(TIME)
  readonly since!: string;

  @ApiProperty(TEXT)
  readonly because!: string;

  @ApiProperty(DECIMAL_OR_NULL)
  readonly beforeUsd!: string | null;

  @ApiProperty({ type: 'boolean', description: 'The hold ends with the next reading near it.' })
  readonly isAccepted!: boolean;
}

@ApiSchema({ name: 'AcceptedPrice' })
export class AcceptedPriceBody {
  @ApiProperty(DECIMAL)
  readonly usd!: string;

  @ApiProperty(TEXT)
  readonly actor!: string;

  @ApiProperty(TIME)
  readonly at!: string;
}

@ApiSchema({ name: 'PriceOfSet' })
export class PriceBody {
  @ApiProperty(TEXT)
  readonly stakeSet!: string;

  @ApiProperty({ anyOf: [{ $ref: '#/components/schemas/StoredPrice' }, { type: 'null' }] })
  readonly stored!: StoredPriceBody | null;

  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/HeldPrice' }, { type: 'null' }],
    description: 'A reading that is not used until an operator accepts it.',
  })
  readonly hold!: HeldPriceBody | null;

  @ApiProperty({ anyOf: [{ $ref: '#/components/schemas/AcceptedPrice' }, { type: 'null' }] })
  readonly accepted!: AcceptedPriceBody | null;
}

@ApiSchema({ name: 'Prices' })
export class PricesBody {
  @ApiProperty({ type: [PriceBody] })
  readonly prices!: PriceBody[];
}

@ApiSchema({ name: 'Vault' })
export class VaultBody {
  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly chainId!: number;

  @ApiProperty(ADDRESS)
  readonly address!: string;

  @ApiProperty(TEXT)
  readonly tokenSymbol!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether a redemption vault is there at all.' })
  readonly isVault!: boolean;

  @ApiProperty({ type: 'boolean' })
  readonly isPaused!: boolean;

  @ApiProperty(DECIMAL)
  readonly balance!: string;

  @ApiProperty({ ...DECIMAL, description: 'What it pays at most within the window.' })
  readonly windowCap!: string;

  @ApiProperty({ ...DECIMAL, description: 'What is left of that now.' })
  readonly remainingInWindow!: string;

  @ApiProperty(COUNT)
  readonly windowSeconds!: number;
}

@ApiSchema({ name: 'Vaults' })
export class VaultsBody {
  @ApiProperty({ type: [VaultBody] })
  readonly vaults!: VaultBody[];
}

@ApiSchema({ name: 'OpenState' })
export class OpenStateBody {
  @ApiProperty({ enum: REDEMPTION_STATES })
  readonly state!: RedemptionState;

  @ApiProperty(COUNT)
  readonly count!: number;

  @ApiProperty({ type: 'number', description: 'How long the first of them is in this state.' })
  readonly longestSeconds!: number;

  @ApiProperty({ type: 'number', description: 'How long ago the oldest of them was made.' })
  readonly oldestSeconds!: number;
}

@ApiSchema({ name: 'StateCount' })
export class StateCountBody {
  @ApiProperty({ enum: REDEMPTION_STATES })
  readonly state!: RedemptionState;

  @ApiProperty(COUNT)
  readonly count!: number;
}

@ApiSchema({ name: 'RedemptionFigures' })
export class RedemptionFiguresBody {
  @ApiProperty({ ...COUNT, description: 'Those that wait for a person.' })
  readonly attention!: number;

  @ApiProperty({ type: [OpenStateBody] })
  readonly open!: OpenStateBody[];

  @ApiProperty({ type: [StateCountBody], description: 'Of those made in the last 24 hours.' })
  readonly made!: StateCountBody[];
}
