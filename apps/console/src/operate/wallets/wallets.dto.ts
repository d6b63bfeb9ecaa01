import { ApiSchema } from '@nestjs/swagger';
import { REDEMPTION_STATES, type RedemptionState } from '#libs/domain';
import { Field } from '#libs/openapi';
import * as Input from '../../http/inputs.js';
import { AFTER, NamedPartner, StakeSetParameter } from '../schema.js';

export const RANGES = ['7', '30', '90', 'all'] as const;
export type Range = (typeof RANGES)[number];

export class StakeSetQuery {
  @StakeSetParameter() readonly stakeSet?: string;
}

export class HistoryQuery extends StakeSetQuery {
  @Input.Optional()
  @Input.OneOf(RANGES, 'be 7, 30, 90 or all', { description: 'The last days; default: 30.' })
  readonly days?: Range;
}

export class WalletPageQuery {
  @Input.Optional()
  @Input.Matching(Input.UUID_PATTERN, 'be the id of a redemption, given once', {
    description: AFTER,
  })
  readonly after?: string;
}

@ApiSchema({ name: 'WalletDay' })
export class WalletDayBody {
  @Field.Day() readonly day!: string;
  @Field.Decimal('The lowest balance of the day.') readonly low!: string;
  @Field.Decimal('The balance that the day ended with, or has now.') readonly closing!: string;
  @Field.Flag('The day goes on, or is not indexed to its end.') readonly isOpen!: boolean;
}

@ApiSchema({ name: 'BalanceChange' })
export class BalanceChangeBody {
  @Field.Time() readonly at!: Date;
  @Field.Digits() readonly block!: string;
  @Field.Decimal('From then on.') readonly balance!: string;
}

@ApiSchema({ name: 'WalletHistory' })
export class WalletHistoryBody {
  @Field.Address() readonly wallet!: string;
  @Field.Text() readonly stakeSet!: string;
  @Field.Text() readonly tokenSymbol!: string;
  @Field.Flag('Whether the index has a change of it.') readonly hasStaked!: boolean;
  @Field.Decimal('At the newest indexed block.') readonly balance!: string;
  @Field.Time('The time of that block.') readonly indexedUntil!: Date;
  @Field.TimeOrNull('What is shown begins here.') readonly from!: Date | null;
  @Field.ListOf(WalletDayBody, 'Each UTC day, oldest first.') readonly days!: WalletDayBody[];
  @Field.ListOf(BalanceChangeBody, 'Oldest first; the first is what the time began with.')
  readonly changes!: BalanceChangeBody[];
  @Field.Flag('There are more changes: these are the newest.') readonly isCut!: boolean;
}

@ApiSchema({ name: 'WalletRedemption' })
export class WalletRedemptionBody {
  @Field.Text() readonly id!: string;
  @Field.Nested(NamedPartner) readonly partner!: NamedPartner;
  @Field.OneOf(REDEMPTION_STATES) readonly state!: RedemptionState;
  @Field.Decimal('A whole number.') readonly points!: string;
  @Field.Decimal() readonly tokens!: string;
  @Field.Decimal() readonly usd!: string;
  @Field.Time() readonly at!: Date;
}

@ApiSchema({ name: 'WalletRedemptions' })
export class WalletRedemptionsBody {
  @Field.ListOf(WalletRedemptionBody) readonly items!: WalletRedemptionBody[];
  @Field.ListOf(String, 'Ids of rows that cannot be read.') readonly unreadable!: string[];
  @Field.Next() readonly next!: string | null;
}

@ApiSchema({ name: 'WalletAudit' })
export class WalletAuditBody {
  @Field.Digits('A final one.') readonly block!: string;
  @Field.Time() readonly blockAt!: Date;
  @Field.Flag() readonly agrees!: boolean;
  @Field.Decimal() readonly indexed!: string;
  @Field.Decimal() readonly contract!: string;
  @Field.Text() readonly tokenSymbol!: string;
}
