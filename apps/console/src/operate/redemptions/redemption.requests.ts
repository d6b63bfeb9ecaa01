import { MinLength } from 'class-validator';
import { REDEMPTION_STATES, type RedemptionState } from '#libs/domain';
import * as Input from '../../http/inputs.js';
import { AFTER } from '../schema.js';

export class RedemptionsQuery {
  @Input.Optional()
  @Input.Matching(
    /^[0-9a-fA-F-]{1,36}$/,
    'be hexadecimal digits and dashes, from the start of the id',
    { description: 'The id, or its beginning.' },
  )
  readonly id?: string;

  @Input.Optional() @Input.OneOf(REDEMPTION_STATES, 'be a state') readonly state?: RedemptionState;

  @MinLength(1, { message: '$property is empty.' })
  @Input.Optional()
  @Input.TextUpTo(400, { description: 'Name, a part of it, or id.' }, 'be given once')
  readonly partner?: string;

  @Input.Optional() @Input.Wallet() readonly wallet?: string;
  @Input.Optional() @Input.Moment('Made then or later.') readonly from?: string;
  @Input.Optional() @Input.Moment('Made before.') readonly until?: string;
  @Input.Optional() @Input.Uuid({ description: AFTER }) readonly after?: string;
}

/** Cursor of the queue: whether the last redemption of the page needs attention, since when, and its id. */
export const QUEUE_KEY =
  /^(true|false)~(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::\d\d)?)~([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/;

export class QueueQuery {
  @Input.Optional()
  @Input.Matching(QUEUE_KEY, 'be the end of a page', { description: AFTER })
  readonly after?: string;
}
