import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { type OwnCall, type OwnRedemption, type OwnRedemptionHistory } from '#libs/db';
import {
  PARTNER_STEPS,
  type PartnerStep,
  REDEMPTION_STATES,
  type RedemptionState,
} from '#libs/domain';
import {
  MAYBE_TEXT,
  MAYBE_TIME,
  text,
  TIME,
  TimeFilter,
  UUID_PATTERN,
  WalletFilter,
} from './page.dto.js';

const OUTCOMES = ['answer', 'no-answer', 'nothing-sent'] as const;
const BEFORE = {
  type: 'string',
  pattern: UUID_PATTERN.source,
  description: 'See `next`.',
} as const;
const BEFORE_FAULT = { message: '$property must be `next` of the page before.' };
const UUID = { type: 'string', format: 'uuid' } as const;
const RECORD = {
  type: 'object',
  additionalProperties: true,
  nullable: true,
  description: 'What was asked, how far it came, what came back and how long it took.',
} as const;

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

export class CallsQuery extends TimeFilter {
  @ApiPropertyOptional(BEFORE)
  @IsOptional()
  @Matches(UUID_PATTERN, BEFORE_FAULT)
  readonly before?: string;

  @ApiPropertyOptional({ enum: PARTNER_STEPS })
  @IsOptional()
  @IsIn(PARTNER_STEPS, { message: '$property must be a step.' })
  readonly step?: PartnerStep;

  @ApiPropertyOptional({ enum: OUTCOMES })
  @IsOptional()
  @IsIn(OUTCOMES, { message: '$property must be answer, no-answer or nothing-sent.' })
  readonly outcome?: (typeof OUTCOMES)[number];
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

@ApiSchema({ name: 'OwnCall' })
export class CallBody {
  @ApiProperty({ ...UUID, description: 'X-API-REQUEST.' })
  readonly requestId!: string;

  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'Null: a balance.' })
  readonly redemptionId!: string | null;

  @ApiProperty({ enum: PARTNER_STEPS })
  readonly step!: PartnerStep;

  @ApiProperty(TIME)
  readonly begunAt!: string;

  @ApiProperty({ ...MAYBE_TIME, description: 'Null: under way, or its end was never learnt.' })
  readonly endedAt!: string | null;

  @ApiProperty({ type: String, enum: OUTCOMES, nullable: true })
  readonly outcome!: string | null;

  @ApiProperty(RECORD)
  readonly record!: Readonly<Record<string, unknown>> | null;
}

@ApiSchema({ name: 'OwnCalls' })
export class CallsBody {
  @ApiProperty({ type: [CallBody], description: 'Newest first.' })
  readonly calls!: CallBody[];

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
  return { ...one, createdAt: text(one.createdAt), stateSince: text(one.stateSince) };
}

export function callBody(call: OwnCall): CallBody {
  return { ...call, begunAt: text(call.begunAt), endedAt: text(call.endedAt) };
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
