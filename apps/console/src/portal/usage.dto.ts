import { ApiSchema } from '@nestjs/swagger';
import { type OwnUsage } from '#libs/db';
import * as Field from '../http/fields.js';
import * as Input from '../http/inputs.js';
import { text } from './page.dto.js';

const HOURS = ['24', '72', '168'] as const;

export class UsageQuery {
  @Input.Optional()
  @Input.OneOf(HOURS, 'be 24, 72 or 168', { default: '24' })
  readonly hours?: (typeof HOURS)[number];
}

@ApiSchema({ name: 'OwnRequestsOfHour' })
export class RequestsOfHour {
  @Field.Time('The beginning of the hour, UTC.') readonly hour!: string;
  @Field.Whole('Status below 400.') readonly answered!: number;
  @Field.Whole('Status 400 to 499, but for 429.') readonly refused!: number;
  @Field.Whole('Status 429.') readonly limited!: number;
  @Field.Whole('Status 500 and above.') readonly failed!: number;
}

@ApiSchema({ name: 'OwnCallsOfHour' })
export class CallsOfHour {
  @Field.Time('The beginning of the hour, UTC.') readonly hour!: string;
  @Field.Whole('All calls of ours.') readonly calls!: number;
  @Field.Whole('No answer, none to be believed, or status 500 and above.') readonly errors!: number;
  @Field.Whole('Not sent at all.') readonly unsent!: number;
}

@ApiSchema({ name: 'OwnUsage' })
export class UsageBody {
  @Field.Time() readonly since!: string;
  @Field.ListOf(RequestsOfHour) readonly requests!: RequestsOfHour[];
  @Field.ListOf(CallsOfHour) readonly calls!: CallsOfHour[];
}

export function usageBody({ requests, calls }: OwnUsage, since: Date): UsageBody {
  return {
    since: text(since),
    requests: requests.map((one) => ({ ...one, hour: text(one.hour) })),
    calls: calls.map((one) => ({ ...one, hour: text(one.hour) })),
  };
}
