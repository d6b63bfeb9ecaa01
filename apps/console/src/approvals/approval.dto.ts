import { ApiSchema } from '@nestjs/swagger';
import { type Approval } from '#libs/db';
import { Field } from '#libs/openapi';
import { distinctName } from '../auth/operators.js';
import * as Input from '../http/inputs.js';
import { NamedPartner } from '../operate/schema.js';
import { type ActionOutcome } from './approval.service.js';

const DECISIONS = ['approved', 'refused', 'withdrawn'] as const;
const STATES = ['open', 'expired', ...DECISIONS] as const;

/** Name of the argument with sealed secrets, for the console that carries out the action. Pages never get it. */
export const SEALED = 'sealed';

export class ApprovalsQuery {
  @Input.Optional()
  @Input.OneOf(['open', 'all'], 'be open or all', { description: 'Default: open.' })
  readonly which?: 'open' | 'all';

  @Input.Optional()
  @Input.Matching(Input.NUMBER_PATTERN, 'be an id', {
    description: 'Of all: those before this id.',
  })
  readonly before?: string;
}

@ApiSchema({ name: 'Approval' })
export class ApprovalBody {
  @Field.Text() readonly id!: string;
  @Field.Text('The command that does the same.') readonly action!: string;
  @Field.Json() readonly arguments!: Readonly<Record<string, unknown>>;
  @Field.Text('What it means, as it was shown before.') readonly summary!: string;
  @Field.NestedOrNull(
    NamedPartner,
    'With its current name; null: the action is not about a partner.',
  )
  readonly partner!: NamedPartner | null;
  @Field.Text('Why it is asked for.') readonly reason!: string;
  @Field.OneOf(STATES) readonly state!: (typeof STATES)[number];
  @Field.Text('The name in the audit log: an account, or a name and a digest of the subject.')
  readonly requestedBy!: string;
  @Field.Flag('Whether the one who asks now asked for it.') readonly isOwn!: boolean;
  @Field.Time() readonly requestedAt!: Date;
  @Field.Time() readonly expiresAt!: Date;
  @Field.TextOrNull('As requestedBy.') readonly decidedBy!: string | null;
  @Field.TimeOrNull() readonly decidedAt!: Date | null;
  @Field.TextOrNull('The outcome; null after an approval: it is not known.')
  readonly outcome!: string | null;
}

@ApiSchema({ name: 'Approvals' })
export class ApprovalsBody {
  @Field.ListOf(ApprovalBody) readonly approvals!: ApprovalBody[];
}

/** @param subject of the operator who views the approval */
export function approvalBody(approval: Approval, subject: string, nowMs: number): ApprovalBody {
  const { id, action, summary, reason, requestedBy, requestedAt, expiresAt, decided } = approval;
  const { partnerId, partnerName } = approval.partner ?? {};
  // The reason has a field of its own.
  const given = Object.fromEntries(
    Object.entries(approval.arguments).filter(([name]) => name !== SEALED && name !== 'reason'),
  );
  const undecided = nowMs < expiresAt.getTime() ? 'open' : 'expired';
  return {
    id: id.toString(),
    ...{ action, arguments: given, summary, reason, requestedAt, expiresAt },
    partner: partnerId && partnerName ? { id: partnerId, name: partnerName } : null,
    state: decided?.decision ?? undecided,
    requestedBy: distinctName(requestedBy),
    isOwn: requestedBy.subject === subject,
    decidedBy: decided && distinctName(decided.by),
    decidedAt: decided?.at ?? null,
    outcome: approval.outcome,
  };
}

@ApiSchema({ name: 'ActionResult' })
export class ActionResultBody {
  @Field.Flag('False: it waits for a second operator.') readonly done!: boolean;
  @Field.TextOrNull('What came of it.') readonly outcome!: string | null;
  @Field.NestedOrNull(ApprovalBody) readonly approval!: ApprovalBody | null;
}

/** @param subject of the operator who sent the request */
export function actionResult(
  performed: ActionOutcome,
  subject: string,
  nowMs: number,
): ActionResultBody {
  return performed.done
    ? { done: true, outcome: performed.outcome, approval: null }
    : { done: false, outcome: null, approval: approvalBody(performed.approval, subject, nowMs) };
}
