import { ApiSchema } from '@nestjs/swagger';
import { type AnsweredRequest } from '#libs/db';
import { Field } from '#libs/openapi';
import * as Input from '../http/inputs.js';
import { baseString, BaseStringBody } from './base-string.js';
import { BeforeNumber, WalletFilter } from './page.dto.js';

/** The ids that the api takes over from a caller. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

const STATUS = /^[1-5]\d\d$/;

export class RequestsQuery extends WalletFilter {
  @Input.Optional() @BeforeNumber('be the id of a request') readonly before?: string;

  @Input.Optional()
  @Input.Matching(STATUS, 'be a status such as 404', { pattern: STATUS.source })
  readonly status?: string;

  @Input.Optional()
  @Input.OneOf(['all', 'failed'], 'be all or failed', { description: '`failed`: 400 and above.' })
  readonly which?: 'all' | 'failed';

  @Input.Optional()
  @Input.Matching(REQUEST_ID, 'be 1 to 64 of A-Z a-z 0-9 . _ -, as X-Request-Id has them', {
    ...{ pattern: REQUEST_ID.source, description: 'The X-Request-Id of one.' },
  })
  readonly requestId?: string;
}

@ApiSchema({ name: 'OwnRequest' })
export class RequestBody {
  @Field.Text() readonly id!: string;
  @Field.TextOrNull('X-Request-Id; null of requests of before it was kept.')
  readonly requestId!: string | null;
  @Field.TextOrNull('The beginning of the key.') readonly keyPrefix!: string | null;
  @Field.Time() readonly at!: Date;
  @Field.Text() readonly method!: string;
  @Field.Text('With the query, as it was sent; the beginning.') readonly path!: string;
  @Field.Flag() readonly isPathCut!: boolean;
  @Field.Whole() readonly status!: number;
  @Field.TextOrNull('Of an error.') readonly code!: string | null;
  @Field.Whole('Bytes of the body, all of it.') readonly bodyBytes!: number;
  @Field.Whole('Microseconds.') readonly durationUs!: number;
}

@ApiSchema({ name: 'OwnRequests' })
export class RequestsBody {
  @Field.ListOf(RequestBody, 'Newest first.') readonly requests!: RequestBody[];
  @Field.TextOrNull('`before` of the next page; null on the last.') readonly next!: string | null;
}

@ApiSchema({ name: 'OwnAnsweredRequest' })
export class AnsweredRequestBody extends RequestBody {
  @Field.Text('Of the answer; the beginning, as UTF-8.') readonly body!: string;
  @Field.Whole('Bytes of the body that were kept.') readonly keptBytes!: number;
  @Field.Text('X-API-SIGNATURE.') readonly signature!: string;
  @Field.Nested(BaseStringBody) readonly baseString!: BaseStringBody;
  @Field.FlagOrNull('Null where the bytes are not all there, or the secret.')
  readonly verifies!: boolean | null;
}

export function requestBody(request: AnsweredRequest) {
  const { id, requestId, keyPrefix, at, method, path, pathLength } = request;
  const { status, code, bodyBytes, durationUs } = request;
  const isPathCut = path.length < pathLength;
  return {
    ...{ id: id.toString(), requestId, keyPrefix, at, method, path, isPathCut },
    ...{ status, code, bodyBytes, durationUs },
  } satisfies RequestBody;
}

export function answeredOf({ method, path, pathLength, body, bodyBytes }: AnsweredRequest) {
  const isQueryOrWhole = path.length === pathLength || path.includes('?');
  const isWhole = isQueryOrWhole && (body.length === bodyBytes || method === 'HEAD');
  return { method, target: path, body, isWhole };
}

export function answeredBody(
  request: AnsweredRequest,
  verified: boolean | null,
): AnsweredRequestBody {
  const { body, signature } = request;
  return {
    ...requestBody(request),
    ...{ body: body.toString('utf8'), keptBytes: body.length, signature },
    baseString: baseString(answeredOf(request)),
    verifies: verified,
  };
}

const HOURS = ['24', '72', '168'] as const;

export class UsageQuery {
  @Input.Optional()
  @Input.OneOf(HOURS, 'be 24, 72 or 168', { default: '24' })
  readonly hours?: (typeof HOURS)[number];
}

@ApiSchema({ name: 'OwnRequestsOfHour' })
export class RequestsOfHour {
  @Field.Time('The beginning of the hour, UTC.') readonly hour!: Date;
  @Field.Whole('Status below 400.') readonly answered!: number;
  @Field.Whole('Status 400 to 499, but for 429.') readonly refused!: number;
  @Field.Whole('Status 429.') readonly limited!: number;
  @Field.Whole('Status 500 and above.') readonly failed!: number;
}

@ApiSchema({ name: 'OwnCallsOfHour' })
export class CallsOfHour {
  @Field.Time('The beginning of the hour, UTC.') readonly hour!: Date;
  @Field.Whole('All calls of ours.') readonly calls!: number;
  @Field.Whole('No answer, none to be believed, or status 500 and above.') readonly errors!: number;
  @Field.Whole('Not sent at all.') readonly unsent!: number;
}

@ApiSchema({ name: 'OwnUsage' })
export class UsageBody {
  @Field.Time() readonly since!: Date;
  @Field.ListOf(RequestsOfHour) readonly requests!: readonly RequestsOfHour[];
  @Field.ListOf(CallsOfHour) readonly calls!: readonly CallsOfHour[];
}
