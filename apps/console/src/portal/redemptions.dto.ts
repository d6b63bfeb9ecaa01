import { ApiSchema } from '@nestjs/swagger';
import { type OwnRedemption, type OwnRedemptionHistory } from '#libs/db';
import { REDEMPTION_STATES, type RedemptionState, tokensText } from '#libs/domain';
import { Field } from '#libs/openapi';
import * as Input from '../http/inputs.js';
import { CallBody, callBody } from './calls.dto.js';
import { BeforeUuid, WalletFilter } from './page.dto.js';

export class RedemptionsQuery extends WalletFilter {
  @Input.Optional() @BeforeUuid() readonly before?: string;

  @Input.Optional()
  @Input.OneOf(REDEMPTION_STATES, 'be a state of a redemption')
  readonly state?: RedemptionState;
}

@ApiSchema({ name: 'OwnRedemption' })
export class RedemptionBody {
  @Field.Uuid() readonly id!: string;
  @Field.Text() readonly wallet!: string;
  @Field.Text() readonly points!: string;
  @Field.Text() readonly usdAmount!: string;
  @Field.Text('In the token’s smallest unit.') readonly tokenAmount!: string;
  @Field.Whole() readonly tokenDecimals!: number;
  @Field.Text('Whole tokens, a decimal number.') readonly tokens!: string;
  @Field.OneOf(REDEMPTION_STATES) readonly state!: RedemptionState;
  @Field.TextOrNull() readonly reason!: string | null;
  @Field.TextOrNull() readonly partnerTransactionId!: string | null;
  @Field.TextOrNull() readonly partnerRevertId!: string | null;
  @Field.TextOrNull() readonly paidTransactionHash!: string | null;
  @Field.Time() readonly createdAt!: Date;
  @Field.Time() readonly stateSince!: Date;
}

@ApiSchema({ name: 'OwnRedemptions' })
export class RedemptionsBody {
  @Field.ListOf(RedemptionBody, 'Newest first.') readonly redemptions!: RedemptionBody[];
  @Field.TextOrNull('`before` of the next page; null on the last.') readonly next!: string | null;
}

@ApiSchema({ name: 'OwnTransition' })
export class TransitionBody {
  @Field.Text() readonly event!: string;
  @Field.OneOfOrNull(REDEMPTION_STATES) readonly from!: RedemptionState | null;
  @Field.OneOf(REDEMPTION_STATES) readonly to!: RedemptionState;
  @Field.TextOrNull() readonly reason!: string | null;
  @Field.Text('Who: the kind, no name.') readonly actor!: string;
  @Field.Time() readonly at!: Date;
}

@ApiSchema({ name: 'OwnConfirmation' })
export class ConfirmationBody {
  @Field.Text('The body that is sent, byte for byte.') readonly payload!: string;
  @Field.OneOf(['pending', 'delivered', 'undelivered']) readonly state!: string;
  @Field.Whole() readonly attempts!: number;
  @Field.TimeOrNull() readonly nextActionAt!: Date | null;
  @Field.TimeOrNull() readonly deliveredAt!: Date | null;
  @Field.TimeOrNull() readonly undeliveredAt!: Date | null;
}

@ApiSchema({ name: 'OwnRedemptionHistory' })
export class HistoryBody {
  @Field.Nested(RedemptionBody) readonly redemption!: RedemptionBody;
  @Field.ListOf(TransitionBody, 'Oldest first.') readonly transitions!: readonly TransitionBody[];
  @Field.ListOf(CallBody, 'Oldest first.') readonly calls!: CallBody[];
  @Field.NestedOrNull(ConfirmationBody) readonly confirmation!: ConfirmationBody | null;
}

export function redemptionBody(one: OwnRedemption): RedemptionBody {
  return { ...one, tokens: tokensText(BigInt(one.tokenAmount), one.tokenDecimals) };
}

export function historyBody(history: OwnRedemptionHistory): HistoryBody {
  const { redemption, transitions, calls, confirmation = null } = history;
  return {
    redemption: redemptionBody(redemption),
    transitions,
    calls: calls.map(callBody),
    confirmation,
  };
}
