/** A call to a partner, as it is stored: what was asked, what came, and what was made of it. */
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type LoggedCall } from '#libs/db';
import { COUNT, COUNT_OR_NULL, NEXT, TEXT, TEXT_OR_NULL, TIME, TIME_OR_NULL } from './schema.js';

@ApiSchema({ name: 'PartnerCall' })
export class CallBody {
  @ApiProperty({ ...TEXT, description: 'X-API-REQUEST.' })
  readonly requestId!: string;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'Null for a balance.' })
  readonly redemptionId!: string | null;

  @ApiProperty(TEXT)
  readonly step!: string;

  @ApiProperty(TIME)
  readonly begunAt!: string;

  @ApiProperty({ ...TIME_OR_NULL, description: 'Null while it is under way.' })
  readonly endedAt!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: '`answer`, `no-answer` or `nothing-sent`.' })
  readonly outcome!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'Whether the answer is believed, and why not.' })
  readonly verdict!: string | null;

  @ApiProperty({ ...COUNT_OR_NULL, description: 'Of the answer.' })
  readonly status!: number | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'Why there is no answer.' })
  readonly cause!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'Method and path, as they were signed.' })
  readonly request!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'The beginning of the body that came.' })
  readonly answer!: string | null;

  @ApiProperty({
    anyOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }],
    description: 'All that is stored of it.',
  })
  readonly record!: object | null;
}

@ApiSchema({ name: 'PartnerCalls' })
export class CallsBody {
  @ApiProperty({ type: [CallBody] })
  readonly items!: CallBody[];

  @ApiProperty(NEXT)
  readonly next!: string | null;
}

@ApiSchema({ name: 'CallsOfHour' })
export class HourBody {
  @ApiProperty({ ...TIME, description: 'Its beginning.' })
  readonly hour!: string;

  @ApiProperty(TEXT)
  readonly step!: string;

  @ApiProperty(COUNT)
  readonly calls!: number;

  @ApiProperty({ ...COUNT, description: 'Answered as agreed, and with a no.' })
  readonly refused!: number;

  @ApiProperty({ ...COUNT, description: 'No answer, or none that could be believed.' })
  readonly errors!: number;

  @ApiProperty({ ...COUNT, description: 'Not sent at all.' })
  readonly unsent!: number;
}

@ApiSchema({ name: 'CallsPerHour' })
export class HoursBody {
  @ApiProperty({
    type: [HourBody],
    description: 'Oldest first; hours without a call are left out.',
  })
  readonly hours!: HourBody[];
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
    begunAt: call.begunAt.toISOString(),
    endedAt: call.end?.at.toISOString() ?? null,
    outcome: call.end?.outcome ?? null,
    verdict: textOf(verdict),
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
