import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { type Approval } from '#libs/db';
import * as Field from '../http/fields.js';
const DECISIONS = ['approved', 'refused', 'withdrawn'] as const;
const STATES = ['open', 'expired', ...DECISIONS] as const;

/** The argument that holds secrets, sealed: for the console that does the action, and for no page. */
export const SEALED = 'sealed';

/** A row's number, as it is in paths. */
export const ID = /^[1-9]\d{0,17}$/;

const LONGEST_REASON = 500;

/** Why an action is asked for, in a request for one that may need a second operator. */
export function ApprovalReason(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      ...{ type: 'string', minLength: 1, maxLength: LONGEST_REASON },
      description: 'Why, for the second operator. Needed where one decides.',
    }),
    IsOptional(),
    Matches(/^(?=.*\S)[^\p{C}\u2028\u2029]{1,500}$/u, {
      message: `$property must be 1 to ${LONGEST_REASON} characters in one line, none of them a control, direction or invisible one.`,
    }),
  );
}

export class ReasonDto {
  @ApprovalReason()
  readonly reason?: string;
}

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
  @Field.Text() readonly id!: string;
  @Field.Text('The command that does the same.') readonly action!: string;
  @Field.Json() readonly arguments!: Readonly<Record<string, unknown>>;
  @Field.Text('What it means, as it was shown before.') readonly summary!: string;
  @Field.TextOrNull('Why it is asked for; null: by a version before.')
  readonly reason!: string | null;
  @Field.OneOf(STATES) readonly state!: (typeof STATES)[number];
  @Field.Text() readonly requestedBy!: string;
  @Field.Flag('Whether the one who asks now asked for it.') readonly isOwn!: boolean;
  @Field.Time() readonly requestedAt!: string;
  @Field.Time() readonly expiresAt!: string;
  @Field.TextOrNull() readonly decidedBy!: string | null;
  @Field.TimeOrNull() readonly decidedAt!: string | null;
  @Field.TextOrNull('What came of it; null after an approval: its end was never learnt.')
  readonly outcome!: string | null;
}

@ApiSchema({ name: 'Approvals' })
export class ApprovalsBody {
  @Field.ListOf(ApprovalBody) readonly approvals!: ApprovalBody[];
}

/** @param subject of the operator who looks at it */
export function approvalBody(approval: Approval, subject: string, nowMs: number): ApprovalBody {
  const { id, action, summary, reason, requestedBy, decided, outcome } = approval;
  const given = Object.fromEntries(
    Object.entries(approval.arguments).filter(([name]) => name !== SEALED),
  );
  const undecided = nowMs < approval.expiresAt.getTime() ? 'open' : 'expired';
  return {
    id: id.toString(),
    ...{ action, arguments: given, summary, reason, outcome },
    state: decided?.decision ?? undecided,
    requestedBy: requestedBy.name,
    isOwn: requestedBy.subject === subject,
    requestedAt: approval.requestedAt.toISOString(),
    expiresAt: approval.expiresAt.toISOString(),
    decidedBy: decided?.by.name ?? null,
    decidedAt: decided?.at.toISOString() ?? null,
  };
}
