import { PartnerUnknownError } from '#libs/db';
import { parsePartnerId, PARTNER_STEPS, type PartnerId, type PartnerStep } from '#libs/domain';
import * as Input from '../../http/inputs.js';
import { AFTER } from '../schema.js';

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
const OUTCOMES = ['answer', 'no-answer', 'nothing-sent'] as const;
const HOURS = ['24', '168', '720'];

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
