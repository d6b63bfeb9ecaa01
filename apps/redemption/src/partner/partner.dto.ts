import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type PartnerCallback } from '#libs/db';
import { type Address, decimalToNumber } from '#libs/domain';
import { ADDRESS, COUNT, NUMBER, PARTNER_NAME, UUID } from '../http/schema.js';

export interface PartnerName {
  readonly id: string;
  readonly name: string;
}

@ApiSchema({ name: 'Partner' })
export class PartnerBody {
  @ApiProperty(UUID)
  readonly id!: string;

  @ApiProperty({ type: 'string' })
  readonly name!: string;

  /** Also true while the partner has no daily token budget. */
  @ApiProperty({ type: 'boolean', description: 'No new redemptions for now.' })
  readonly paused!: boolean;

  @ApiProperty(NUMBER)
  readonly usdPerPoint!: number;

  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: { fromPoints: COUNT, rate: NUMBER },
    required: ['fromPoints', 'rate'],
    selfRequired: true,
    description: 'More tokens from a number of points on: a rate of 0.02 is 2 %.',
  })
  readonly bonus!: { readonly fromPoints: number; readonly rate: number } | null;

  @ApiProperty({ ...COUNT, nullable: true })
  readonly minPoints!: number | null;

  @ApiProperty({ ...COUNT, nullable: true })
  readonly maxPoints!: number | null;
}

@ApiSchema({ name: 'Partners' })
export class PartnersBody {
  @ApiProperty({ type: [PartnerBody] })
  readonly partners!: readonly PartnerBody[];
}

@ApiSchema({ name: 'Points' })
export class PointsBody {
  @ApiProperty(PARTNER_NAME)
  readonly partner!: PartnerName;

  @ApiProperty(ADDRESS)
  readonly wallet!: Address;

  @ApiProperty(COUNT)
  readonly points!: number;

  @ApiProperty({ type: 'string', description: 'As the partner names it.' })
  readonly chain!: string;
}

export function partnerBody(callback: PartnerCallback): PartnerBody {
  const { bonus, minPoints, maxPoints, dailyTokenBudget } = callback;
  return {
    id: callback.partnerId,
    name: callback.partnerName,
    paused: callback.paused || dailyTokenBudget === undefined,
    usdPerPoint: decimalToNumber(callback.usdPerPoint),
    bonus: bonus
      ? { fromPoints: Number(bonus.fromPoints), rate: decimalToNumber(bonus.rate) }
      : null,
    minPoints: minPoints === undefined ? null : Number(minPoints),
    maxPoints: maxPoints === undefined ? null : Number(maxPoints),
  };
}
