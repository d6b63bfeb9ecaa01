import { ApiSchema } from '@nestjs/swagger';
import { REDEMPTION_STATES, UNSETTLED_KINDS, type UnsettledKind } from '#libs/domain';
import { Field } from '#libs/openapi';
import * as Input from '../../http/inputs.js';
import { AFTER, NamedPartner } from '../schema.js';

/** A cursor, `BLOCK_ID_TRANSACTION`: the last row of the previous page. */
export const CLAIM_KEY = /^(\d{1,18})_([0-9a-f-]{36}|0x[0-9a-f]{64})_(0x[0-9a-f]{64})$/;

export class ClaimsQuery {
  @Input.Optional()
  @Input.OneOf(['open', 'all'], 'be open or all', { description: 'Default: open.' })
  readonly which?: 'open' | 'all';

  @Input.Optional()
  @Input.Matching(CLAIM_KEY, 'be `next` of the page before', { description: AFTER })
  readonly after?: string;
}

@ApiSchema({ name: 'Acknowledgement' })
export class AcknowledgementBody {
  @Field.Time() readonly at!: Date;
  @Field.Text() readonly actor!: string;
  @Field.Text() readonly note!: string;
}

@ApiSchema({ name: 'Claim', description: 'Of the vault, which the ledger does not explain.' })
export class ClaimBody {
  @Field.Text('Of the redemption; else 0x and 64 hex digits.') readonly id!: string;
  @Field.OneOf(UNSETTLED_KINDS) readonly kind!: UnsettledKind;
  @Field.OneOfOrNull(REDEMPTION_STATES) readonly state!: string | null;
  @Field.ChainId() readonly chainId!: number;
  @Field.Address() readonly vault!: string;
  @Field.Address() readonly recipient!: string;
  @Field.DecimalOrNull('Whole tokens; null before there is an index.')
  readonly tokens!: string | null;
  @Field.Decimal('In the token’s smallest unit.') readonly amount!: string;
  @Field.Digits() readonly block!: string;
  @Field.Time() readonly blockAt!: Date;
  @Field.Text() readonly transactionHash!: string;
  @Field.Flag('An operator may explain it.') readonly canAcknowledge!: boolean;
  @Field.NestedOrNull(AcknowledgementBody) readonly acknowledged!: AcknowledgementBody | null;
}

@ApiSchema({ name: 'Claims' })
export class ClaimsBody {
  @Field.Text('What an acknowledgement does.') readonly consequence!: string;
  @Field.TextOrNull() readonly tokenSymbol!: string | null;
  @Field.ListOf(ClaimBody) readonly items!: ClaimBody[];
  @Field.Next() readonly next!: string | null;
}

@ApiSchema({ name: 'Acknowledged' })
export class AcknowledgedBody {
  @Field.Count('One id may be claimed on several vaults.') readonly claims!: number;
}

@ApiSchema({ name: 'DifferenceOfRun' })
export class DifferenceBody {
  @Field.Text() readonly kind!: string;
  @Field.OneOf(['warning', 'critical']) readonly severity!: 'warning' | 'critical';
  @Field.Text() readonly text!: string;
}

@ApiSchema({ name: 'Money' })
export class MoneyBody {
  @Field.Count() readonly count!: number;
  @Field.Decimal() readonly points!: string;
  @Field.DecimalOrNull() readonly tokens!: string | null;
}

@ApiSchema({ name: 'LedgerOfPartner' })
export class LedgerBody {
  @Field.Nested(NamedPartner) readonly partner!: NamedPartner;
  @Field.Nested(MoneyBody) readonly deducted!: MoneyBody;
  @Field.Nested(MoneyBody) readonly claimed!: MoneyBody;
  @Field.Nested(MoneyBody) readonly reverted!: MoneyBody;
  @Field.Nested(MoneyBody) readonly open!: MoneyBody;
}

@ApiSchema({ name: 'Reconciliation', description: 'The last one; nulls before the first.' })
export class ReconciliationBody {
  @Field.TimeOrNull() readonly at!: Date | null;
  @Field.Flag('Claims were acknowledged since.') readonly isOutdated!: boolean;
  @Field.TextOrNull() readonly tokenSymbol!: string | null;
  @Field.Count('By the chain.') readonly chainClaims!: number;
  @Field.DecimalOrNull() readonly chainTokens!: string | null;
  @Field.Count('By the ledger.') readonly ledgerClaims!: number;
  @Field.DecimalOrNull() readonly ledgerTokens!: string | null;
  @Field.ListOf(DifferenceBody) readonly differences!: DifferenceBody[];
  @Field.ListOf(LedgerBody) readonly ledgers!: LedgerBody[];
}
