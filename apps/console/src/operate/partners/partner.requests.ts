import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, Matches } from 'class-validator';
import { PartnerUnknownError } from '#libs/db';
import {
  parsePartnerId,
  PARTNER_CAPABILITIES,
  PARTNER_STEPS,
  type PartnerCapability,
  type PartnerId,
  type PartnerStep,
} from '#libs/domain';
import { KEY_PREFIX } from '#libs/operations';
import { ApprovalReason } from '../../approvals/approval.dto.js';
import * as Input from '../../http/inputs.js';
import { AFTER } from '../schema.js';
import { RequestName } from '../request-id.js';

/** Path parameter of the routes for one partner. */
export const PARTNER_ID = {
  name: 'partner',
  schema: { type: 'string', format: 'uuid' },
  description: 'The id of the partner.',
} as const;

/** @throws PartnerUnknownError */
export function partnerIdOf(text: string): PartnerId {
  const id = parsePartnerId(text);
  if (id === undefined) throw new PartnerUnknownError();
  return id;
}

/**
 * In characters: more than a partner's name may have, so that the route itself refuses a long name, with its reason.
 */
const LONGEST_NAME_READ = 400;
const STAKE_SET = /^[a-z][a-z0-9]{0,30}$/;
const OUTCOMES = ['answer', 'no-answer', 'nothing-sent'] as const;
const HOURS = ['24', '168', '720'];

function Decimal() {
  const pattern = /^\d{1,30}(?:\.\d{1,30})?$/;
  const must = 'be a decimal number such as 0.01';
  return Input.Matching(pattern, must, { pattern: pattern.source });
}

function DecimalOrNone() {
  const pattern = /^(?:none|\d{1,30}(?:\.\d{1,30})?)$/;
  const must = 'be a decimal number such as 0.01, or none';
  return Input.Matching(pattern, must, { pattern: pattern.source });
}

/** At most 2^53 - 1; `callbackChange` refuses more. */
function PointsOrNone() {
  const pattern = /^(?:none|[1-9]\d{0,15})$/;
  const must = 'be a whole number of points, at least 1, or none';
  return Input.Matching(pattern, must, { pattern: pattern.source });
}

function Secret(description: string) {
  const must = 'be 1 to 4096 characters without control characters';
  const schema = { minLength: 1, maxLength: 4096, writeOnly: true, description };
  return Input.Matching(/^\P{Cc}{1,4096}$/u, must, schema);
}

function Requests(description: string) {
  const bounds = { minimum: 1, maximum: 2_147_483_647 };
  return Input.Whole(bounds, 'be a whole number of at least 1', { ...bounds, description });
}

/** An absent field stays as it is; `none` removes a limit. */
export class CallbackDto {
  @Input.Optional()
  @Input.TextUpTo(2048, { maxLength: 2048, description: 'The base URL.' })
  readonly url?: string;

  @Input.Optional() @Secret('X-API-KEY of our calls.') readonly key?: string;
  @Input.Optional() @Secret('Signs our calls and the answers.') readonly secret?: string;
  @Input.Optional() @Decimal() readonly usdPerPoint?: string;
  @Input.Optional() @PointsOrNone() readonly bonusFrom?: string;
  @Input.Optional() @Decimal() readonly bonusRate?: string;
  @Input.Optional() @PointsOrNone() readonly minPoints?: string;
  @Input.Optional() @PointsOrNone() readonly maxPoints?: string;
  @Input.Optional() @DecimalOrNone() readonly dailyTokenBudget?: string;
  @Input.Optional() @Input.Flag('Has the confirmation endpoint.') readonly confirm?: boolean;

  @Input.Optional()
  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...PARTNER_CAPABILITIES] } })
  @IsIn(PARTNER_CAPABILITIES, { each: true, message: '$property has one that is not known.' })
  @ArrayMaxSize(PARTNER_CAPABILITIES.length, { message: '$property has too many.' })
  @IsArray({ message: '$property must be a list.' })
  readonly capabilities?: PartnerCapability[];

  @Input.Optional()
  @Input.Flag('Development: http, private addresses.')
  readonly allowPrivate?: boolean;
}

class TermsDto {
  @Input.Optional() @Requests('Requests per second.') readonly rate?: number;
  @Input.Optional() @Requests('Requests at once.') readonly burst?: number;

  @Input.Optional()
  @Input.Matching(STAKE_SET, 'be the name of a stake set', { pattern: STAKE_SET.source })
  readonly stakeSet?: string;

  @Input.Optional()
  @ApiProperty({ type: CallbackDto })
  @Input.Nested(() => CallbackDto)
  readonly callback?: CallbackDto;
}

export class PartnerChangeDto extends TermsDto {
  @ApprovalReason() readonly reason?: string;
}

export class NewPartnerDto extends TermsDto {
  @RequestName() readonly request!: string;

  @Input.TextUpTo(LONGEST_NAME_READ, { minLength: 1, maxLength: 100 })
  readonly name!: string;
}

export class NewCredentialDto {
  @RequestName() readonly request!: string;
}

export class RevocationDto {
  @Input.Matching(KEY_PREFIX, 'be svck_ and 1 to 7 characters more, not the whole key', {
    pattern: KEY_PREFIX.source,
  })
  readonly keyPrefix!: string;

  @Input.Flag('Also the last active one.') readonly force!: boolean;
}

export class PingDto {
  @Input.Wallet('Of a player.') readonly address!: string;
}

export class InvitationDto {
  @Input.Matching(
    /^[^\p{C}\u2028\u2029]{1,200}$/u,
    'be 1 to 200 characters in one line, none of them a control, direction or invisible one',
    { maxLength: 200, description: 'Whom it is for.' },
  )
  readonly note!: string;
}

export class MemberDto {
  @Matches(/^\P{Cc}*$/u, { message: '$property must be a text in one line.' })
  @Input.TextUpTo(1024, { maxLength: 1024 })
  readonly subject!: string;
}

export class PartnersQuery {
  @Input.Optional()
  @Input.TextUpTo(LONGEST_NAME_READ, { description: AFTER }, 'be given once')
  readonly after?: string;

  @Input.Optional()
  @Input.Matching(/^[^\p{Cc}\p{Cs}]{1,255}$/u, 'be a part of a name, given once', {
    description: 'A part of the name, in any case.',
  })
  readonly name?: string;
}

export class CallsQuery {
  @Input.Optional() @Input.OneOf(PARTNER_STEPS, 'be a step') readonly step?: PartnerStep;

  @Input.Optional()
  @Input.OneOf(OUTCOMES, 'be an outcome')
  readonly outcome?: (typeof OUTCOMES)[number];

  @Input.Optional() @Input.Uuid() readonly after?: string;
}

export class HoursQuery {
  @Input.Optional()
  @Input.OneOf(HOURS, 'be 24, 168 or 720', { description: 'Default: 24.' })
  readonly hours?: string;
}
