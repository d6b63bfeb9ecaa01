import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { type OwnRedemption, type OwnRedemptionHistory } from '#libs/db';
import { REDEMPTION_STATES, type RedemptionState, tokensText } from '#libs/domain';
import { CallBody, callBody } from './calls.dto.js';
import {
  BEFORE,
  BEFORE_FAULT,
  MAYBE_TEXT,
  MAYBE_TIME,
  text,
  TIME,
  UUID,
  UUID_PATTERN,
  WalletFilter,
} from './page.dto.js';

export class RedemptionsQuery extends WalletFilter {
  @ApiPropertyOptional(BEFORE)
  @IsOptional()
  @Matches(UUID_PATTERN, BEFORE_FAULT)
  readonly before?: string;

  @ApiPropertyOptional({ enum: REDEMPTION_STATES })
  @IsOptional()
  @IsIn(REDEMPTION_STATES, { message: '$property must be a state of a redemption.' })
  readonly state?: RedemptionState;
}

@ApiSchema({ name: 'OwnRedemption' })
export class RedemptionBody {
  @ApiProperty(UUID)
  readonly id!: string;

  @ApiProperty({ type: 'string' })
  readonly wallet!: string;

  @ApiProperty({ type: 'string' })
  readonly points!: string;

  @ApiProperty({ type: 'string' })
  readonly usdAmount!: string;

  @ApiProperty({ type: 'string', description: 'In the token’s smallest unit.' })
  readonly tokenAmount!: string;

  @ApiProperty({ type: 'integer' })
  readonly tokenDecimals!: number;

  @ApiProperty({ type: 'string', description: 'Whole tokens, a decimal number.' })
  readonly tokens!: string;

  @ApiProperty({ enum: REDEMPTION_STATES })
  readonly state!: RedemptionState;

  @ApiProperty(MAYBE_TEXT)
  readonly reason!: string | null;

  @ApiProperty(MAYBE_TEXT)
  readonly partnerTransactionId!: string | null;

  @ApiProperty(MAYBE_TEXT)
  readonly partnerRevertId!: string | null;

  @ApiProperty(MAYBE_TEXT)
  readonly paidTransactionHash!: string | null;

  @ApiProperty(TIME)
  readonly createdAt!: string;

  @ApiProperty(TIME)
  readonly stateSince!: string;
}

@ApiSchema({ name: 'OwnRedemptions' })
export class RedemptionsBody {
  @ApiProperty({ type: [RedemptionBody], description: 'Newest first.' })
  readonly redemptions!: RedemptionBody[];

  @ApiProperty({ ...MAYBE_TEXT, description: '`before` of the next page; null on the last.' })
  readonly next!: string | null;
}

@ApiSchema({ name: 'OwnTransition' })
export class TransitionBody {
  @ApiProperty({ type: 'string' })
  readonly event!: string;

  @ApiProperty({ type: String, enum: REDEMPTION_STATES, nullable: true })
  readonly from!: RedemptionState | null;

  @ApiProperty({ enum: REDEMPTION_STATES })
  readonly to!: RedemptionState;

  @ApiProperty(MAYBE_TEXT)
  readonly reason!: string | null;

  @ApiProperty({ type: 'string', description: 'Who: the kind, no name.' })
  readonly actor!: string;

  @ApiProperty(TIME)
  readonly at!: string;
}

@ApiSchema({ name: 'OwnConfirmation' })
export class ConfirmationBody {
  @ApiProperty({ type: 'string', description: 'The body that is sent, byte for byte.' })
  readonly payload!: string;

  @ApiProperty({ enum: ['pending', 'delivered', 'undelivered'] })
  readonly state!: string;

  @ApiProperty({ type: 'integer' })
  readonly attempts!: number;

  @ApiProperty(MAYBE_TIME)
  readonly nextActionAt!: string | null;

  @ApiProperty(MAYBE_TIME)
  readonly deliveredAt!: string | null;

  @ApiProperty(MAYBE_TIME)
  readonly undeliveredAt!: string | null;
}

@ApiSchema({ name: 'OwnRedemptionHistory' })
export class HistoryBody {
  @ApiProperty({ type: RedemptionBody })
  readonly redemption!: RedemptionBody;

  @ApiProperty({ type: [TransitionBody], description: 'Oldest first.' })
  readonly transitions!: TransitionBody[];

  @ApiProperty({ type: [CallBody], description: 'Oldest first.' })
  readonly calls!: CallBody[];

  @ApiProperty({ anyOf: [{ $ref: '#/components/schemas/OwnConfirmation' }, { type: 'null' }] })
  readonly confirmation!: ConfirmationBody | null;
}

export function redemptionBody(one: OwnRedemption): RedemptionBody {
  const tokens = tokensText(BigInt(one.tokenAmount), one.tokenDecimals);
  return { ...one, tokens, createdAt: text(one.createdAt), stateSince: text(one.stateSince) };
}

export function historyBody(history: OwnRedemptionHistory): HistoryBody {
  const { redemption, transitions, calls, confirmation } = history;
  return {
    redemption: redemptionBody(redemption),
    transitions: transitions.map((one) => ({ ...one, at: text(one.at) })),
    calls: calls.map(callBody),
    confirmation: confirmation === undefined ? null : confirmationBody(confirmation),
  };
}

function confirmationBody(
  confirmation: NonNullable<OwnRedemptionHistory['confirmation']>,
): ConfirmationBody {
  const { nextActionAt, deliveredAt, undeliveredAt } = confirmation;
  return {
    ...confirmation,
    ...{ nextActionAt: text(nextActionAt), deliveredAt: text(deliveredAt) },
    undeliveredAt: text(undeliveredAt),
  };
}
