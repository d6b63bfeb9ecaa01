import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { REDEMPTION_STATES, type RedemptionState } from '#libs/domain';
import { NamedPartner } from '../partner-names.js';
import {
  ADDRESS,
  BLOCK,
  DAY,
  DECIMAL,
  NEXT,
  StakeSetParameter,
  TEXT,
  TIME,
  TIME_OR_NULL,
} from '../schema.js';

export const RANGES = ['7', '30', '90', 'all'] as const;
export type Range = (typeof RANGES)[number];

export class HistoryQuery {
  @StakeSetParameter()
  readonly stakeSet?: string;

  @ApiPropertyOptional({ enum: RANGES, description: 'The last days; default: 30.' })
  @IsOptional()
  @IsIn(RANGES, { message: '$property must be 7, 30, 90 or all.' })
  readonly days?: Range;
}

export class StakeSetQuery {
  @StakeSetParameter()
  readonly stakeSet?: string;
}

export class WalletPageQuery {
  @ApiPropertyOptional({ type: 'string', description: '`next` of the page before.' })
  @IsOptional()
  @Matches(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/, {
    message: '$property must be the id of a redemption, given once.',
  })
  readonly after?: string;
}

@ApiSchema({ name: 'WalletDay' })
export class WalletDayBody {
  @ApiProperty(DAY)
  readonly day!: string;

  @ApiProperty({ ...DECIMAL, description: 'The lowest balance of the day.' })
  readonly low!: string;

  @ApiProperty({ ...DECIMAL, description: 'The balance that the day ended with, or has now.' })
  readonly closing!: string;

  @ApiProperty({ type: 'boolean', description: 'The day goes on, or is not indexed to its end.' })
  readonly isOpen!: boolean;
}

@ApiSchema({ name: 'BalanceChange' })
export class BalanceChangeBody {
  @ApiProperty(TIME)
  readonly at!: string;

  @ApiProperty(BLOCK)
  readonly block!: string;

  @ApiProperty({ ...DECIMAL, description: 'From then on.' })
  readonly balance!: string;
}

@ApiSchema({ name: 'WalletHistory' })
export class WalletHistoryBody {
  @ApiProperty(ADDRESS)
  readonly wallet!: string;

  @ApiProperty(TEXT)
  readonly stakeSet!: string;

  @ApiProperty(TEXT)
  readonly tokenSymbol!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether the index has a change of it.' })
  readonly hasStaked!: boolean;

  @ApiProperty({ ...DECIMAL, description: 'At the newest indexed block.' })
  readonly balance!: string;

  @ApiProperty({ ...TIME, description: 'The time of that block.' })
  readonly indexedUntil!: string;

  @ApiProperty({ ...TIME_OR_NULL, description: 'What is shown begins here.' })
  readonly from!: string | null;

  @ApiProperty({ type: [WalletDayBody], description: 'Each UTC day, oldest first.' })
  readonly days!: WalletDayBody[];

  @ApiProperty({
    type: [BalanceChangeBody],
    description: 'Oldest first; the first is what the time began with.',
  })
  readonly changes!: BalanceChangeBody[];

  @ApiProperty({ type: 'boolean', description: 'There are more changes: these are the newest.' })
  readonly isCut!: boolean;
}

@ApiSchema({ name: 'WalletRedemption' })
export class WalletRedemptionBody {
  @ApiProperty(TEXT)
  readonly id!: string;

  @ApiProperty({ type: NamedPartner })
  readonly partner!: NamedPartner;

  @ApiProperty({ enum: REDEMPTION_STATES })
  readonly state!: RedemptionState;

  @ApiProperty({ ...DECIMAL, description: 'A whole number.' })
  readonly points!: string;

  @ApiProperty(DECIMAL)
  readonly tokens!: string;

  @ApiProperty(DECIMAL)
  readonly usd!: string;

  @ApiProperty(TIME)
  readonly at!: string;
}

@ApiSchema({ name: 'WalletRedemptions' })
export class WalletRedemptionsBody {
  @ApiProperty({ type: [WalletRedemptionBody] })
  readonly items!: WalletRedemptionBody[];

  @ApiProperty({ type: [String], description: 'Ids of rows that cannot be read.' })
  readonly unreadable!: string[];

  @ApiProperty(NEXT)
  readonly next!: string | null;
}

@ApiSchema({ name: 'WalletAudit' })
export class WalletAuditBody {
  @ApiProperty({ ...BLOCK, description: 'A final one.' })
  readonly block!: string;

  @ApiProperty(TIME)
  readonly blockAt!: string;

  @ApiProperty({ type: 'boolean' })
  readonly agrees!: boolean;

  @ApiProperty(DECIMAL)
  readonly indexed!: string;

  @ApiProperty(DECIMAL)
  readonly contract!: string;

  @ApiProperty(TEXT)
  readonly tokenSymbol!: string;
}
