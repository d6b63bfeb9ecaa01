import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { decimalText, type ReadRows } from '#libs/db';
import { REDEMPTION_STATES, type Redemption, type RedemptionState } from '#libs/domain';
import { tokensText } from '#libs/operations';
import { PartnerName } from '../../auth/auth.dto.js';
import { ApprovalBody } from '../../approvals/approval.dto.js';
import { CallBody } from '../call.bodies.js';
import {
  ADDRESS,
  COUNT,
  DECIMAL,
  NEXT,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
} from '../schema.js';
import { ACTIONS } from './redemption.requests.js';

@ApiSchema({ name: 'ListedRedemption' })
export class ListedRedemptionBody {
  @ApiProperty({ type: 'string', format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ enum: REDEMPTION_STATES })
  readonly state!: RedemptionState;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'Why, where that is not the course of things.' })
  readonly reason!: string | null;

  @ApiProperty({ ...COUNT, description: 'Grows with each transition.' })
  readonly version!: number;

  @ApiProperty({ type: PartnerName })
  readonly partner!: PartnerName;

  @ApiProperty(ADDRESS)
  readonly wallet!: string;

  @ApiProperty({ ...DECIMAL, description: 'Whole points.' })
  readonly points!: string;

  @ApiProperty({ ...DECIMAL, description: 'Whole tokens.' })
  readonly tokens!: string;

  @ApiProperty(DECIMAL)
  readonly usd!: string;

  @ApiProperty(TIME)
  readonly createdAt!: string;

  @ApiProperty({ ...TIME, description: 'In its state since then.' })
  readonly stateSince!: string;
}

@ApiSchema({ name: 'UnreadableRedemption', description: 'No program of ours has written it so.' })
export class UnreadableBody {
  @ApiProperty(TEXT)
  readonly message!: string;
}

@ApiSchema({ name: 'ListedRedemptions' })
export class RedemptionsBody {
  @ApiProperty({ type: [ListedRedemptionBody] })
  readonly items!: ListedRedemptionBody[];

  @ApiProperty({ type: [UnreadableBody], description: 'Of this page.' })
  readonly unreadable!: UnreadableBody[];

  @ApiProperty(NEXT)
  readonly next!: string | null;
}

@ApiSchema({ name: 'RedemptionTransition' })
export class TransitionBody {
  @ApiProperty(COUNT)
  readonly version!: number;

  @ApiProperty(TEXT)
  readonly event!: string;

  @ApiProperty(TEXT_OR_NULL)
  readonly from!: string | null;

  @ApiProperty(TEXT)
  readonly to!: string;

  @ApiProperty(TEXT_OR_NULL)
  readonly reason!: string | null;

  @ApiProperty(TEXT)
  readonly actor!: string;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'Of the call that it follows from.' })
  readonly requestId!: string | null;

  @ApiProperty(TIME)
  readonly at!: string;
}

@ApiSchema({ name: 'RedemptionConfirmation' })
export class ConfirmationBody {
  @ApiProperty({ enum: ['pending', 'delivered', 'undelivered'] })
  readonly state!: string;

  @ApiProperty(COUNT)
  readonly attempts!: number;

  @ApiProperty(TEXT)
  readonly payload!: string;

  @ApiProperty(TIME_OR_NULL)
  readonly deliveredAt!: string | null;

  @ApiProperty(TIME_OR_NULL)
  readonly nextActionAt!: string | null;
}

@ApiSchema({ name: 'OperatorAction' })
export class ActionBody {
  @ApiProperty({ enum: ACTIONS })
  readonly action!: (typeof ACTIONS)[number];

  @ApiProperty({ ...TEXT, description: 'The command that does the same.' })
  readonly command!: string;

  @ApiProperty(TEXT)
  readonly title!: string;

  @ApiProperty({ ...TEXT, description: 'What it leads to; empty where it cannot be done now.' })
  readonly consequence!: string;

  @ApiProperty({ type: String, enum: ['transaction', 'note'], nullable: true })
  readonly input!: 'transaction' | 'note' | null;

  @ApiProperty({ type: 'boolean', description: 'It waits for a second operator: give a `reason`.' })
  readonly needsApproval!: boolean;

  @ApiProperty({
    ...TEXT_OR_NULL,
    description: 'Why it cannot be done here now, and from when or where.',
  })
  readonly unavailable!: string | null;
}

@ApiSchema({ name: 'RedemptionFact' })
export class FactBody {
  @ApiProperty(TEXT)
  readonly name!: string;

  @ApiProperty(TEXT)
  readonly value!: string;
}

@ApiSchema({ name: 'OperatedRedemption' })
export class RedemptionBody extends ListedRedemptionBody {
  @ApiProperty({ ...TEXT, description: 'What has to happen next, by whom, and when.' })
  readonly waitsFor!: string;

  @ApiProperty({ type: [FactBody], description: 'What else is stored of it.' })
  readonly facts!: FactBody[];

  @ApiProperty({ type: [TransitionBody], description: 'Oldest first.' })
  readonly transitions!: TransitionBody[];

  @ApiProperty({ type: [CallBody], description: 'Oldest first.' })
  readonly calls!: CallBody[];

  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/RedemptionConfirmation' }, { type: 'null' }],
  })
  readonly confirmation!: ConfirmationBody | null;

  @ApiProperty({
    type: [ActionBody],
    description: 'Those that its state allows, and those that `waitsFor` names.',
  })
  readonly actions!: ActionBody[];

  @ApiProperty({ type: [ApprovalBody], description: 'Asked for a second operator; newest first.' })
  readonly approvals!: ApprovalBody[];
}

@ApiSchema({ name: 'ChainEvidence' })
export class EvidenceBody {
  @ApiProperty({ type: 'boolean', description: 'Whether the chain was asked, and said something.' })
  readonly asked!: boolean;

  @ApiProperty({ ...TEXT, description: 'What final blocks say now, or why they were not asked.' })
  readonly text!: string;
}

export function listedBody(redemption: Redemption, names: ReadonlyMap<string, string>) {
  const { id, state, reason, version, partner, wallet, points, usdAmount } = redemption;
  return {
    ...{ id, state, reason, version, wallet },
    partner: { id: partner, name: names.get(partner) ?? partner },
    points: points.toString(),
    tokens: tokensText(redemption),
    usd: decimalText(usdAmount),
    createdAt: new Date(redemption.initialAtMs).toISOString(),
    stateSince: new Date(redemption.stateSinceMs).toISOString(),
  } satisfies ListedRedemptionBody;
}

export function unreadableBodies({ unreadable }: ReadRows): UnreadableBody[] {
  return unreadable.map(({ message }) => ({ message }));
}
