import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches, MaxLength } from 'class-validator';
import { REDEMPTION_STATES, UNSETTLED_KINDS, type UnsettledKind } from '#libs/domain';
import { LONGEST_NOTE } from '#libs/operations';
import { NamedPartner } from '../partner-names.js';
import {
  ADDRESS,
  BLOCK,
  COUNT,
  DECIMAL,
  DECIMAL_OR_NULL,
  NEXT,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
} from '../schema.js';

/** `BLOCK_ID_TRANSACTION` of the last row of a page. */
export const CLAIM_KEY = /^(\d{1,18})_([0-9a-f-]{36}|0x[0-9a-f]{64})_(0x[0-9a-f]{64})$/;

export class ClaimsQuery {
  @ApiPropertyOptional({ enum: ['open', 'all'], description: 'Default: open.' })
  @IsOptional()
  @IsIn(['open', 'all'], { message: '$property must be open or all.' })
  readonly which?: 'open' | 'all';

  @ApiPropertyOptional({ type: 'string', description: '`next` of the page before.' })
  @IsOptional()
  @Matches(CLAIM_KEY, { message: '$property must be `next` of the page before.' })
  readonly after?: string;
}

export class AcknowledgeDto {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: LONGEST_NOTE,
    description: 'What it was, for those who look at it later.',
  })
  @MaxLength(4 * LONGEST_NOTE, { message: `$property must have 1 to ${LONGEST_NOTE} characters.` })
  @Matches(/\S/, { message: `$property must have 1 to ${LONGEST_NOTE} characters.` })
  readonly note!: string;
}

@ApiSchema({ name: 'Acknowledgement' })
export class AcknowledgementBody {
  @ApiProperty(TIME)
  readonly at!: string;

  @ApiProperty(TEXT)
  readonly actor!: string;

  @ApiProperty(TEXT)
  readonly note!: string;
}

@ApiSchema({ name: 'Claim', description: 'Of the vault, which the ledger does not explain.' })
export class ClaimBody {
  @ApiProperty({ ...TEXT, description: 'Of the redemption; else 0x and 64 hex digits.' })
  readonly id!: string;

  @ApiProperty({ enum: UNSETTLED_KINDS })
  readonly kind!: UnsettledKind;

  @ApiProperty({ type: String, enum: REDEMPTION_STATES, nullable: true })
  readonly state!: string | null;

  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly chainId!: number;

  @ApiProperty(ADDRESS)
  readonly vault!: string;

  @ApiProperty(ADDRESS)
  readonly recipient!: string;

  @ApiProperty({ ...DECIMAL_OR_NULL, description: 'Whole tokens; null before there is an index.' })
  readonly tokens!: string | null;

  @ApiProperty({ ...DECIMAL, description: 'In the token’s smallest unit.' })
  readonly amount!: string;

  @ApiProperty(BLOCK)
  readonly block!: string;

  @ApiProperty(TIME)
  readonly blockAt!: string;

  @ApiProperty(TEXT)
  readonly transactionHash!: string;

  @ApiProperty({ type: 'boolean', description: 'An operator may explain it.' })
  readonly canAcknowledge!: boolean;

  @ApiProperty({ anyOf: [{ $ref: '#/components/schemas/Acknowledgement' }, { type: 'null' }] })
  readonly acknowledged!: AcknowledgementBody | null;
}

@ApiSchema({ name: 'Claims' })
export class ClaimsBody {
  @ApiProperty({ ...TEXT, description: 'What an acknowledgement does.' })
  readonly consequence!: string;

  @ApiProperty(TEXT_OR_NULL)
  readonly tokenSymbol!: string | null;

  @ApiProperty({ type: [ClaimBody] })
  readonly items!: ClaimBody[];

  @ApiProperty(NEXT)
  readonly next!: string | null;
}

@ApiSchema({ name: 'Acknowledged' })
export class AcknowledgedBody {
  @ApiProperty({ ...COUNT, description: 'One id may be claimed on several vaults.' })
  readonly claims!: number;
}

@ApiSchema({ name: 'DifferenceOfRun' })
export class DifferenceBody {
  @ApiProperty(TEXT)
  readonly kind!: string;

  @ApiProperty({ enum: ['warning', 'critical'] })
  readonly severity!: 'warning' | 'critical';

  @ApiProperty(TEXT)
  readonly text!: string;
}

@ApiSchema({ name: 'Money' })
export class MoneyBody {
  @ApiProperty(COUNT)
  readonly count!: number;

  @ApiProperty(DECIMAL)
  readonly points!: string;

  @ApiProperty(DECIMAL_OR_NULL)
  readonly tokens!: string | null;
}

@ApiSchema({ name: 'LedgerOfPartner' })
export class LedgerBody {
  @ApiProperty({ type: NamedPartner })
  readonly partner!: NamedPartner;

  @ApiProperty({ type: MoneyBody })
  readonly deducted!: MoneyBody;

  @ApiProperty({ type: MoneyBody })
  readonly claimed!: MoneyBody;

  @ApiProperty({ type: MoneyBody })
  readonly reverted!: MoneyBody;

  @ApiProperty({ type: MoneyBody })
  readonly open!: MoneyBody;
}

@ApiSchema({ name: 'Reconciliation', description: 'The last one; nulls before the first.' })
export class ReconciliationBody {
  @ApiProperty(TIME_OR_NULL)
  readonly at!: string | null;

  @ApiProperty({ type: 'boolean', description: 'Claims were acknowledged since.' })
  readonly isOutdated!: boolean;

  @ApiProperty(TEXT_OR_NULL)
  readonly tokenSymbol!: string | null;

  @ApiProperty({ ...COUNT, description: 'By the chain.' })
  readonly chainClaims!: number;

  @ApiProperty(DECIMAL_OR_NULL)
  readonly chainTokens!: string | null;

  @ApiProperty({ ...COUNT, description: 'By the ledger.' })
  readonly ledgerClaims!: number;

  @ApiProperty(DECIMAL_OR_NULL)
  readonly ledgerTokens!: string | null;

  @ApiProperty({ type: [DifferenceBody] })
  readonly differences!: DifferenceBody[];

  @ApiProperty({ type: [LedgerBody] })
  readonly ledgers!: LedgerBody[];
}
