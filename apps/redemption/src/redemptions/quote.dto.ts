import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import {
  type Address,
  decimalToNumber,
  type RedemptionRate,
  tokensText,
  tokensToNumber,
} from '#libs/domain';
import { type UserError } from '../http/user.error.js';
import { ADDRESS, COUNT, DIGITS, NUMBER, PARTNER_NAME, TIME } from '../http/schema.js';
import { type PartnerName } from '../partner/partner.dto.js';
import { type Assessment, type PointsRange } from './quote.service.js';

const WHOLE = { message: '$property must be a whole number above 0, given once.' };

/** A parameter that is given twice arrives as a list, and is refused. */
export class QuoteQuery {
  @ApiProperty({ ...COUNT, minimum: 1, description: 'How many would be redeemed.' })
  @Transform(({ value }) =>
    typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : (value as unknown),
  )
  @Max(Number.MAX_SAFE_INTEGER, WHOLE)
  @Min(1, WHOLE)
  @IsInt(WHOLE)
  readonly points!: number;
}

@ApiSchema({
  name: 'Refusal',
  description: 'What a creation of this moment would be answered with.',
})
export class RefusalBody {
  @ApiProperty({ type: 'string', description: 'One of those of POST /api/redemptions.' })
  readonly code!: string;

  @ApiProperty({ type: 'string', description: 'For people; its wording may change.' })
  readonly message!: string;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    nullable: true,
    description: 'Where waiting is known to help.',
  })
  readonly retryAfterSeconds!: number | null;
}

const REFUSAL = { type: () => RefusalBody, nullable: true } as const;

@ApiSchema({ name: 'Quote', description: 'The figures are null where nothing can be quoted.' })
export class QuoteBody {
  @ApiProperty(PARTNER_NAME)
  readonly partner!: PartnerName;

  @ApiProperty(COUNT)
  readonly points!: number;

  @ApiProperty({ ...NUMBER, nullable: true, description: 'Whole tokens, rounded once.' })
  readonly tokens!: number | null;

  @ApiProperty({
    type: 'string',
    pattern: '^[0-9]+([.][0-9]+)?$',
    nullable: true,
    description: 'Whole tokens, exact.',
  })
  readonly tokensExact!: string | null;

  @ApiProperty({
    ...DIGITS,
    nullable: true,
    description: 'In the token’s smallest unit: `minAmount` of the redemption.',
  })
  readonly amount!: string | null;

  @ApiProperty({ ...NUMBER, nullable: true, description: 'Of the points, without the bonus.' })
  readonly usdValue!: number | null;

  @ApiProperty({ ...NUMBER, nullable: true, description: 'US dollars for one token.' })
  readonly priceUsd!: number | null;

  @ApiProperty({
    ...NUMBER,
    nullable: true,
    description: 'The bonus that is in the tokens, 0.02 for 2 %; null where there is none.',
  })
  readonly bonusRate!: number | null;

  @ApiProperty({
    ...TIME,
    nullable: true,
    description:
      'From then on this price is no longer used. A newer one may take its place before, about once a minute.',
  })
  readonly validUntil!: string | null;

  @ApiProperty(REFUSAL)
  readonly refusal!: RefusalBody | null;
}

@ApiSchema({ name: 'PointsRange' })
export class PointsRangeBody {
  @ApiProperty(PARTNER_NAME)
  readonly partner!: PartnerName;

  @ApiProperty({ ...COUNT, description: 'The fewest that the partner takes.' })
  readonly minPoints!: number;

  @ApiProperty({
    ...COUNT,
    description:
      'The most that the partner, the budgets of the day and the vault allow at this moment; 0 where that is fewer than `minPoints`.',
  })
  readonly maxPoints!: number;

  @ApiProperty({
    ...COUNT,
    description:
      'How long the wallet waits before it can redeem again if it leaves or cancels one more voucher, counted from when that has ended; 0: not at all.',
  })
  readonly coolDownSeconds!: number;

  @ApiProperty(REFUSAL)
  readonly refusal!: RefusalBody | null;
}

@ApiSchema({ name: 'PointsOfPartner' })
export class PointsOfPartnerBody {
  @ApiProperty(PARTNER_NAME)
  readonly partner!: PartnerName;

  @ApiProperty({ ...COUNT, nullable: true, description: 'Null if there is a problem.' })
  readonly points!: number | null;

  @ApiProperty({
    type: () => RefusalBody,
    nullable: true,
    description: 'Why the points are not known, as GET /api/partners/{partner}/points answers.',
  })
  readonly problem!: RefusalBody | null;

  @ApiProperty({ type: () => PointsRangeBody })
  readonly limits!: PointsRangeBody;

  @ApiProperty({
    type: () => QuoteBody,
    nullable: true,
    description: 'Of as many of the points as can be redeemed; null if that is none.',
  })
  readonly quote!: QuoteBody | null;
}

@ApiSchema({ name: 'AllPoints' })
export class AllPointsBody {
  @ApiProperty(ADDRESS)
  readonly wallet!: Address;

  @ApiProperty({ type: [PointsOfPartnerBody] })
  readonly partners!: readonly PointsOfPartnerBody[];
}

export function quoteBody(
  partner: PartnerName,
  points: number,
  { terms, refusal }: Assessment,
): QuoteBody {
  const said = refusalBody(refusal);
  if (terms === undefined) {
    return {
      ...{ partner, points, tokens: null, tokensExact: null, amount: null, usdValue: null },
      ...{ priceUsd: null, bonusRate: null, validUntil: null, refusal: said },
    };
  }
  const { tokenAmount, tokenDecimals, usdAmount, priceUsd, rate, usableUntilMs } = terms;
  return {
    partner,
    points,
    tokens: tokensToNumber(tokenAmount, tokenDecimals),
    tokensExact: tokensText(tokenAmount, tokenDecimals),
    amount: tokenAmount.toString(),
    usdValue: decimalToNumber(usdAmount),
    priceUsd: decimalToNumber(priceUsd),
    bonusRate: bonusRateOf(rate, BigInt(points)),
    validUntil: new Date(usableUntilMs).toISOString(),
    refusal: said,
  };
}

export function pointsRangeBody(
  partner: PartnerName,
  { minPoints, maxPoints, coolDownSeconds, refusal }: PointsRange,
): PointsRangeBody {
  return {
    partner,
    minPoints: Number(minPoints),
    maxPoints: Number(maxPoints),
    coolDownSeconds,
    refusal: refusalBody(refusal),
  };
}

function bonusRateOf({ bonus }: RedemptionRate, points: bigint): number | null {
  return bonus !== undefined && points >= bonus.fromPoints ? decimalToNumber(bonus.rate) : null;
}

export function refusalBody(refusal: UserError | undefined): RefusalBody | null {
  if (refusal === undefined) return null;
  const { code, message, retryAfterSeconds = null } = refusal;
  return { code, message, retryAfterSeconds };
}
