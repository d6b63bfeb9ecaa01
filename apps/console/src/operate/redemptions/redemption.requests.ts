import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { Type } from 'class-transformer';
import { REDEMPTION_STATES, type RedemptionState } from '#libs/domain';
import { type ActionName } from '#libs/operations';
import { ApprovalReason } from '../../approvals/approval.dto.js';
import * as Field from '../../http/fields.js';
import { IsMoment } from '../../http/moment.js';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const MAX_VERSION = 2_147_483_647;

export const ACTIONS = [
  'retry',
  'cancel',
  'set-partner-tx',
  'restored-out-of-band',
  'not-deducted',
  'settled-by-hand',
  'replay-confirm',
] as const satisfies readonly ActionName[];

export class RedemptionsQuery {
  @ApiPropertyOptional({ type: 'string', description: 'The id, or its beginning.' })
  @IsOptional()
  @Matches(/^[0-9a-fA-F-]{1,36}$/, {
    message: '$property must be hexadecimal digits and dashes, from the start of the id.',
  })
  readonly id?: string;

  @ApiPropertyOptional({ enum: REDEMPTION_STATES })
  @IsOptional()
  @IsIn(REDEMPTION_STATES, { message: '$property must be a state.' })
  readonly state?: RedemptionState;

  @ApiPropertyOptional({ type: 'string', description: 'Name, a part of it, or id.' })
  @IsOptional()
  @MaxLength(400, { message: '$property is too long.' })
  @MinLength(1, { message: '$property is empty.' })
  @IsString({ message: '$property must be given once.' })
  readonly partner?: string;

  @ApiPropertyOptional({ type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' })
  @IsOptional()
  @Matches(/^0x[0-9a-fA-F]{40}$/, { message: '$property must be 0x and 40 hex digits.' })
  readonly wallet?: string;

  @ApiPropertyOptional({ type: 'string', format: 'date-time', description: 'Made then or later.' })
  @IsOptional()
  @IsMoment()
  readonly from?: string;

  @ApiPropertyOptional({ type: 'string', format: 'date-time', description: 'Made before.' })
  @IsOptional()
  @IsMoment()
  readonly until?: string;

  @ApiPropertyOptional({
    type: 'string',
    format: 'uuid',
    description: '`next` of the page before.',
  })
  @IsOptional()
  @Matches(UUID, { message: '$property must be an id.' })
  readonly after?: string;
}

/** Where a page of the queue ended: whether it waits for a person, since when, and the id. */
export const QUEUE_KEY =
  /^(true|false)~(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::\d\d)?)~([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/;

export class QueueQuery {
  @ApiPropertyOptional({ type: 'string', description: '`next` of the page before.' })
  @IsOptional()
  @Matches(QUEUE_KEY, { message: '$property must be the end of a page.' })
  readonly after?: string;
}

export class ActionDto {
  @Field.OneOf(ACTIONS)
  @IsIn(ACTIONS, { message: '$property must be an action.' })
  readonly action!: ActionName;

  @Field.ChainId('Of the redemption, as it was seen.')
  @Max(MAX_VERSION, { message: '$property must be a version.' })
  @Min(1, { message: '$property must be a version.' })
  @IsInt({ message: '$property must be a version.' })
  readonly version!: number;

  @ApiPropertyOptional({ type: 'string', maxLength: 255, description: 'What `input` asks for.' })
  @IsOptional()
  @MaxLength(255, { message: '$property is too long.' })
  @IsString({ message: '$property must be a text.' })
  readonly given?: string;

  @ApprovalReason()
  readonly reason?: string;
}

class SeenRedemption {
  @Field.Uuid()
  @Matches(UUID, { message: '$property must be an id.' })
  readonly id!: string;

  @Field.ChainId()
  @Max(MAX_VERSION, { message: '$property must be a version.' })
  @Min(1, { message: '$property must be a version.' })
  @IsInt({ message: '$property must be a version.' })
  readonly version!: number;
}

export class AdoptDto {
  @ApiProperty({ type: [SeenRedemption], maxItems: 100 })
  @ValidateNested({ each: true, message: '$property is not valid.' })
  @Type(() => SeenRedemption)
  @ArrayMaxSize(100, { message: '$property has too many.' })
  @IsArray({ message: '$property must be a list.' })
  readonly redemptions!: SeenRedemption[];

  @ApprovalReason()
  readonly reason?: string;
}
