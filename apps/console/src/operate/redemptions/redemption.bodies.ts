import { ApiSchema } from '@nestjs/swagger';
import { decimalText, type ReadRows } from '#libs/db';
import { REDEMPTION_STATES, type Redemption, type RedemptionState } from '#libs/domain';
import { Field } from '#libs/openapi';
import {
  ACTION_INPUTS,
  ACTION_NAMES,
  type ActionInput,
  type ActionName,
  tokensText,
} from '#libs/operations';
import { PartnerName } from '../../auth/auth.dto.js';
import { ApprovalBody } from '../../approvals/approval.dto.js';
import { CallBody } from '../call.bodies.js';

@ApiSchema({ name: 'ListedRedemption' })
export class ListedRedemptionBody {
  @Field.Uuid() readonly id!: string;
  @Field.OneOf(REDEMPTION_STATES) readonly state!: RedemptionState;
  @Field.TextOrNull('Why, where that is not the course of things.') readonly reason!: string | null;
  @Field.Count('Grows with each transition.') readonly version!: number;
  @Field.Nested(PartnerName) readonly partner!: PartnerName;
  @Field.Address() readonly wallet!: string;
  @Field.Decimal('Whole points.') readonly points!: string;
  @Field.Decimal('Whole tokens.') readonly tokens!: string;
  @Field.Decimal() readonly usd!: string;
  @Field.Time() readonly createdAt!: Date;
  @Field.Time('In its state since then.') readonly stateSince!: Date;
}

@ApiSchema({ name: 'UnreadableRedemption', description: 'No program of ours has written it so.' })
export class UnreadableBody {
  @Field.Text() readonly message!: string;
}

@ApiSchema({ name: 'ListedRedemptions' })
export class RedemptionsBody {
  @Field.ListOf(ListedRedemptionBody) readonly items!: ListedRedemptionBody[];
  @Field.ListOf(UnreadableBody, 'Of this page.') readonly unreadable!: UnreadableBody[];
  @Field.Next() readonly next!: string | null;
}

@ApiSchema({ name: 'RedemptionTransition' })
export class TransitionBody {
  @Field.Count() readonly version!: number;
  @Field.Text() readonly event!: string;
  @Field.TextOrNull() readonly from!: string | null;
  @Field.Text() readonly to!: string;
  @Field.TextOrNull() readonly reason!: string | null;
  @Field.Text() readonly actor!: string;
  @Field.TextOrNull('Of the call that it follows from.') readonly requestId!: string | null;
  @Field.Time() readonly at!: Date;
}

@ApiSchema({ name: 'RedemptionConfirmation' })
export class ConfirmationBody {
  @Field.OneOf(['pending', 'delivered', 'undelivered']) readonly state!: string;
  @Field.Count() readonly attempts!: number;
  @Field.Text() readonly payload!: string;
  @Field.TimeOrNull() readonly deliveredAt!: Date | null;
  @Field.TimeOrNull() readonly nextActionAt!: Date | null;
}

@ApiSchema({ name: 'OperatorAction' })
export class ActionBody {
  @Field.OneOf(ACTION_NAMES) readonly action!: ActionName;
  @Field.Text('The command that does the same.') readonly command!: string;
  @Field.Text() readonly title!: string;
  @Field.Text('What it leads to; empty where it cannot be done now.') readonly consequence!: string;
  @Field.OneOfOrNull(ACTION_INPUTS) readonly input!: ActionInput | null;
  @Field.Json('The other fields of its request by which the action is known.')
  readonly fields!: Readonly<Record<string, true>>;
  @Field.Flag('Nothing takes it back.') readonly isFinal!: boolean;
  @Field.Flag('A second operator has to approve it: give a `reason`.')
  readonly needsApproval!: boolean;
  @Field.TextOrNull('Why it cannot be done here now, and from when or where.')
  readonly unavailable!: string | null;
}

@ApiSchema({ name: 'RedemptionFact' })
export class FactBody {
  @Field.Text() readonly name!: string;
  @Field.Text() readonly value!: string;
}

@ApiSchema({ name: 'OperatedRedemption' })
export class RedemptionBody extends ListedRedemptionBody {
  @Field.Text('What has to happen next, by whom, and when.') readonly waitsFor!: string;
  @Field.ListOf(FactBody, 'What else is stored of it.') readonly facts!: FactBody[];
  @Field.ListOf(TransitionBody, 'Oldest first.') readonly transitions!: readonly TransitionBody[];
  @Field.ListOf(CallBody, 'Oldest first.') readonly calls!: CallBody[];
  @Field.NestedOrNull(ConfirmationBody) readonly confirmation!: ConfirmationBody | null;
  @Field.ListOf(ActionBody, 'Those that its state allows, and those that `waitsFor` names.')
  readonly actions!: ActionBody[];
  @Field.ListOf(ApprovalBody, 'Asked for a second operator; newest first.')
  readonly approvals!: ApprovalBody[];
}

@ApiSchema({ name: 'ChainEvidence' })
export class EvidenceBody {
  @Field.Flag('Whether the chain was asked, and said something.') readonly asked!: boolean;
  @Field.Text('What final blocks say now, or why they were not asked.') readonly text!: string;
}

export function listedBody(redemption: Redemption, names: ReadonlyMap<string, string>) {
  const { id, state, reason, version, partner, wallet, points, usdAmount } = redemption;
  return {
    ...{ id, state, reason, version, wallet },
    partner: { id: partner, name: names.get(partner) ?? partner },
    points: points.toString(),
    tokens: tokensText(redemption),
    usd: decimalText(usdAmount),
    createdAt: new Date(redemption.initialAtMs),
    stateSince: new Date(redemption.stateSinceMs),
  } satisfies ListedRedemptionBody;
}

export function unreadableBodies({ unreadable }: ReadRows): UnreadableBody[] {
  return unreadable.map(({ message }) => ({ message }));
}
