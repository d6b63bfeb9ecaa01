/** A logged call to a partner: the request, the answer, and the verdict on it. */
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type LoggedCall } from '#libs/db';
import { Field } from '#libs/openapi';
import { explain, type Finding } from '#libs/partner-sdk/answers';

@ApiSchema({ name: 'PartnerCall' })
export class CallBody {
  @Field.Text('X-API-REQUEST.') readonly requestId!: string;
  @Field.TextOrNull('Null for a balance.') readonly redemptionId!: string | null;
  @Field.Text() readonly step!: string;
  @Field.Time() readonly begunAt!: Date;
  @Field.TimeOrNull('Null while it is under way.') readonly endedAt!: Date | null;
  @Field.TextOrNull('`answer`, `no-answer` or `nothing-sent`.') readonly outcome!: string | null;
  @Field.TextOrNull('Whether the answer is believed, and why not.')
  readonly verdict!: string | null;
  @Field.TextOrNull('What was found of the call, in words.') readonly says!: string | null;
  @Field.CountOrNull('Of the answer.') readonly status!: number | null;
  @Field.TextOrNull('Why there is no answer.') readonly cause!: string | null;
  @Field.TextOrNull('Method and path, as they were signed.') readonly request!: string | null;
  @Field.TextOrNull('The beginning of the body that came.') readonly answer!: string | null;

  @ApiProperty({
    anyOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }],
    description: 'All that is stored of it.',
  })
  readonly record!: object | null;
}

@ApiSchema({ name: 'PartnerCalls' })
export class CallsBody {
  @Field.ListOf(CallBody) readonly items!: CallBody[];
  @Field.Next() readonly next!: string | null;
}

@ApiSchema({ name: 'CallsOfHour' })
export class HourBody {
  @Field.Time('Its beginning.') readonly hour!: Date;
  @Field.Text() readonly step!: string;
  @Field.Count() readonly calls!: number;
  @Field.Count('Answered as agreed, and with a no.') readonly refused!: number;
  @Field.Count('No answer, or none that could be believed.') readonly errors!: number;
  @Field.Count('Not sent at all.') readonly unsent!: number;
}

@ApiSchema({ name: 'CallsPerHour' })
export class HoursBody {
  @Field.ListOf(HourBody, 'Oldest first; hours without a call are left out.')
  readonly hours!: readonly HourBody[];
}

export function callBody(call: LoggedCall & { readonly redemptionId?: string | null }): CallBody {
  const record = call.end?.record ?? null;
  const { verdict, status, cause, method, path, excerpt } = (record ?? {}) as Record<
    string,
    unknown
  >;
  return {
    requestId: call.requestId,
    redemptionId: call.redemptionId ?? null,
    step: call.step,
    begunAt: call.begunAt,
    endedAt: call.end?.at ?? null,
    outcome: call.end?.outcome ?? null,
    verdict: textOf(verdict),
    says: saysOf(record),
    status: typeof status === 'number' ? status : null,
    cause: textOf(cause),
    request: typeof method === 'string' && typeof path === 'string' ? `${method} ${path}` : null,
    answer: textOf(excerpt),
    record,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function saysOf(record: object | null): string | null {
  const { finding } = (record ?? {}) as { readonly finding?: Finding };
  return finding === undefined ? null : explain(finding).says;
}
