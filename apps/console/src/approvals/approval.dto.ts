import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { type Approval } from '#libs/db';

const TIME = { type: 'string', format: 'date-time' } as const;
const TIME_OR_NULL = { type: String, format: 'date-time', nullable: true } as const;
const DECISIONS = ['approved', 'refused', 'withdrawn'] as const;
const STATES = ['open', 'expired', ...DECISIONS] as const;

/** A row's number, as it is in paths. */
export const ID = /^[1-9]\d{0,17}$/;

export class ApprovalsQuery {
  @ApiPropertyOptional({ enum: ['open', 'all'], description: 'Default: open.' })
  @IsOptional()
  @IsIn(['open', 'all'], { message: '$property must be open or all.' })
  readonly which?: 'open' | 'all';

  @ApiPropertyOptional({ type: 'string', description: 'Of all: those before this id.' })
  @IsOptional()
  @Matches(ID, { message: '$property must be an id.' })
  readonly before?: string;
}

@ApiSchema({ name: 'Approval' })
export class ApprovalBody {
  @ApiProperty({ type: 'string' })
  readonly id!: string;

  @ApiProperty({ type: 'string', description: 'The command that does the same.' })
  readonly action!: string;

  @ApiProperty({ type: 'object', additionalProperties: true })
  readonly arguments!: Readonly<Record<string, unknown>>;

  @ApiProperty({ type: 'string', description: 'What it means, as it was shown before.' })
  readonly summary!: string;

  @ApiProperty({ enum: STATES })
  readonly state!: (typeof STATES)[number];

  @ApiProperty({ type: 'string' })
  readonly requestedBy!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether the one who asks now asked for it.' })
  readonly isOwn!: boolean;

  @ApiProperty(TIME)
  readonly requestedAt!: string;

  @ApiProperty(TIME)
  readonly expiresAt!: string;

  @ApiProperty({ type: String, nullable: true })
  readonly decidedBy!: string | null;

  @ApiProperty(TIME_OR_NULL)
  readonly decidedAt!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What came of it; null after an approval: its end was never learnt.',
  })
  readonly outcome!: string | null;
}

@ApiSchema({ name: 'Approvals' })
export class ApprovalsBody {
  @ApiProperty({ type: [ApprovalBody] })
  readonly approvals!: ApprovalBody[];
}

/** @param subject of the operator who looks at it */
export function approvalBody(approval: Approval, subject: string, nowMs: number): ApprovalBody {
  const { id, action, arguments: given, summary, requestedBy, decided, outcome } = approval;
  const undecided = nowMs < approval.expiresAt.getTime() ? 'open' : 'expired';
  return {
    id: id.toString(),
    ...{ action, arguments: given, summary, outcome },
    state: decided?.decision ?? undecided,
    requestedBy: requestedBy.name,
    isOwn: requestedBy.subject === subject,
    requestedAt: approval.requestedAt.toISOString(),
    expiresAt: approval.expiresAt.toISOString(),
    decidedBy: decided?.by.name ?? null,
    decidedAt: decided?.at.toISOString() ?? null,
  };
}
