import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  PARTNER_CAPABILITIES,
  PARTNER_STEPS,
  type PartnerCapability,
  type PartnerStep,
} from '#libs/domain';
import { ApprovalReason } from '../../approvals/approval.dto.js';
import * as Field from '../../http/fields.js';
import { RequestName } from '../request-id.js';

const MAX_INT = 2_147_483_647;
const DECIMAL = /^\d{1,30}(?:\.\d{1,30})?$/;
const DECIMAL_OR_NONE = /^(?:none|\d{1,30}(?:\.\d{1,30})?)$/;
/** Up to 2^53 - 1, which the parser holds. */
const POINTS_OR_NONE = /^(?:none|[1-9]\d{0,15})$/;
const NOT_DECIMAL = { message: '$property must be a decimal number such as 0.01.' };
const NOT_DECIMAL_OR_NONE = {
  message: '$property must be a decimal number such as 0.01, or none.',
};
const NOT_POINTS = { message: '$property must be a whole number of points, at least 1, or none.' };
const SECRET = { type: 'string', minLength: 1, maxLength: 4096, writeOnly: true } as const;
const IN_ONE_LINE = /^\P{Cc}{1,4096}$/u;
const NOT_SECRET = {
  message: '$property must be 1 to 4096 characters without control characters.',
};
const RATE = { type: 'integer', minimum: 1, maximum: MAX_INT } as const;
const NOT_RATE = { message: '$property must be a whole number of at least 1.' };
export const STAKE_SET = /^[a-z][a-z0-9]{0,30}$/;
const NOT_STAKE_SET = { message: '$property must be the name of a stake set.' };

/** What is absent stays; `none` takes a limit away. */
export class CallbackDto {
  @ApiPropertyOptional({ type: 'string', maxLength: 2048, description: 'The base URL.' })
  @IsOptional()
  @MaxLength(2048, { message: '$property is too long.' })
  @IsString({ message: '$property must be a text.' })
  readonly url?: string;

  @ApiPropertyOptional({ ...SECRET, description: 'X-API-KEY of our calls.' })
  @IsOptional()
  @Matches(IN_ONE_LINE, NOT_SECRET)
  readonly key?: string;

  @ApiPropertyOptional({ ...SECRET, description: 'Signs our calls and the answers.' })
  @IsOptional()
  @Matches(IN_ONE_LINE, NOT_SECRET)
  readonly secret?: string;

  @ApiPropertyOptional({ type: 'string', pattern: DECIMAL.source })
  @IsOptional()
  @Matches(DECIMAL, NOT_DECIMAL)
  readonly usdPerPoint?: string;

  @ApiPropertyOptional({ type: 'string', pattern: POINTS_OR_NONE.source })
  @IsOptional()
  @Matches(POINTS_OR_NONE, NOT_POINTS)
  readonly bonusFrom?: string;

  @ApiPropertyOptional({ type: 'string', pattern: DECIMAL.source })
  @IsOptional()
  @Matches(DECIMAL, NOT_DECIMAL)
  readonly bonusRate?: string;

  @ApiPropertyOptional({ type: 'string', pattern: POINTS_OR_NONE.source })
  @IsOptional()
  @Matches(POINTS_OR_NONE, NOT_POINTS)
  readonly minPoints?: string;

  @ApiPropertyOptional({ type: 'string', pattern: POINTS_OR_NONE.source })
  @IsOptional()
  @Matches(POINTS_OR_NONE, NOT_POINTS)
  readonly maxPoints?: string;

  @ApiPropertyOptional({ type: 'string', pattern: DECIMAL_OR_NONE.source })
  @IsOptional()
  @Matches(DECIMAL_OR_NONE, NOT_DECIMAL_OR_NONE)
  readonly dailyTokenBudget?: string;

  @ApiPropertyOptional({ type: 'boolean', description: 'Has the confirmation endpoint.' })
  @IsOptional()
  @IsBoolean({ message: '$property must be true or false.' })
  readonly confirm?: boolean;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', enum: [...PARTNER_CAPABILITIES] },
  })
  @IsOptional()
  @IsIn(PARTNER_CAPABILITIES, { each: true, message: '$property has one that is not known.' })
  @ArrayMaxSize(PARTNER_CAPABILITIES.length, { message: '$property has too many.' })
  @IsArray({ message: '$property must be a list.' })
  readonly capabilities?: PartnerCapability[];

  @ApiPropertyOptional({ type: 'boolean', description: 'Development: http, private addresses.' })
  @IsOptional()
  @IsBoolean({ message: '$property must be true or false.' })
  readonly allowPrivate?: boolean;
}

class TermsDto {
  @ApiPropertyOptional({ ...RATE, description: 'Requests per second.' })
  @IsOptional()
  @Max(MAX_INT, NOT_RATE)
  @Min(1, NOT_RATE)
  @IsInt(NOT_RATE)
  readonly rate?: number;

  @ApiPropertyOptional({ ...RATE, description: 'Requests at once.' })
  @IsOptional()
  @Max(MAX_INT, NOT_RATE)
  @Min(1, NOT_RATE)
  @IsInt(NOT_RATE)
  readonly burst?: number;

  @ApiPropertyOptional({ type: 'string', pattern: STAKE_SET.source })
  @IsOptional()
  @Matches(STAKE_SET, NOT_STAKE_SET)
  readonly stakeSet?: string;

  @ApiPropertyOptional({ type: CallbackDto })
  @IsOptional()
  @ValidateNested({ message: '$property is not valid.' })
  @Type(() => CallbackDto)
  readonly callback?: CallbackDto;
}

export class PartnerChangeDto extends TermsDto {
  @ApprovalReason()
  readonly reason?: string;
}

export class NewPartnerDto extends TermsDto {
  @RequestName()
  readonly request!: string;

  @ApiProperty({ type: 'string', minLength: 1, maxLength: 100 })
  @MaxLength(400, { message: '$property is too long.' })
  @IsString({ message: '$property must be a text.' })
  readonly name!: string;
}

export class NewCredentialDto {
  @RequestName()
  readonly request!: string;
}

export class RevocationDto {
  @ApiProperty({ type: 'string', pattern: '^svck_[A-Za-z0-9_-]{1,7}$' })
  @Matches(/^svck_[A-Za-z0-9_-]{1,7}$/, {
    message: '$property must be svck_ and 1 to 7 characters more, not the whole key.',
  })
  readonly keyPrefix!: string;

  @Field.Flag('Also the last active one.')
  @IsBoolean({ message: '$property must be true or false.' })
  readonly force!: boolean;
}

export class PingDto {
  @ApiProperty({ type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description: 'Of a player.' })
  @Matches(/^0x[0-9a-fA-F]{40}$/, { message: '$property must be 0x and 40 hex digits.' })
  readonly address!: string;
}

export class InvitationDto {
  @ApiProperty({ type: 'string', maxLength: 200, description: 'Whom it is for.' })
  @Matches(/^[^\p{C}\u2028\u2029]{1,200}$/u, {
    message:
      '$property must be 1 to 200 characters in one line, none of them a control, direction or invisible one.',
  })
  readonly note!: string;
}

export class MemberDto {
  @ApiProperty({ type: 'string', maxLength: 1024 })
  @MaxLength(1024, { message: '$property is too long.' })
  @Matches(/^\P{Cc}*$/u, { message: '$property must be a text in one line.' })
  @IsString({ message: '$property must be a text.' })
  readonly subject!: string;
}

const PARTNER_PART = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

export class PartnersQuery {
  @ApiPropertyOptional({ type: 'string', description: '`next` of the page before.' })
  @IsOptional()
  @MaxLength(400, { message: '$property is too long.' })
  @IsString({ message: '$property must be given once.' })
  readonly after?: string;

  @ApiPropertyOptional({ type: 'string', description: 'A part of the name, in any case.' })
  @IsOptional()
  @Matches(PARTNER_PART, { message: '$property must be a part of a name, given once.' })
  readonly name?: string;
}

const OUTCOMES = ['answer', 'no-answer', 'nothing-sent'] as const;

export class CallsQuery {
  @ApiPropertyOptional({ enum: PARTNER_STEPS })
  @IsOptional()
  @IsIn(PARTNER_STEPS, { message: '$property must be a step.' })
  readonly step?: PartnerStep;

  @ApiPropertyOptional({ enum: OUTCOMES })
  @IsOptional()
  @IsIn(OUTCOMES, { message: '$property must be an outcome.' })
  readonly outcome?: (typeof OUTCOMES)[number];

  @ApiPropertyOptional({ type: 'string', format: 'uuid' })
  @IsOptional()
  @Matches(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/, { message: '$property must be an id.' })
  readonly after?: string;
}

export class HoursQuery {
  @ApiPropertyOptional({ type: 'string', enum: ['24', '168', '720'], description: 'Default: 24.' })
  @IsOptional()
  @IsIn(['24', '168', '720'], { message: '$property must be 24, 168 or 720.' })
  readonly hours?: string;
}
