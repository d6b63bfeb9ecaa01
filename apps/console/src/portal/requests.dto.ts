import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { type AnsweredRequest } from '#libs/db';
import { baseString, BaseStringBody } from './base-string.js';
import { ID_PATTERN, MAYBE_TEXT, text, TIME, WalletFilter } from './page.dto.js';

/** The ids that the api takes over from a caller. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

export class RequestsQuery extends WalletFilter {
  @ApiPropertyOptional({ type: 'string', pattern: ID_PATTERN.source, description: 'See `next`.' })
  @IsOptional()
  @Matches(ID_PATTERN, { message: '$property must be the id of a request.' })
  readonly before?: string;

  @ApiPropertyOptional({ type: 'string', pattern: '^[1-5]\\d\\d$' })
  @IsOptional()
  @Matches(/^[1-5]\d\d$/, { message: '$property must be a status such as 404.' })
  readonly status?: string;

  @ApiPropertyOptional({ enum: ['all', 'failed'], description: '`failed`: 400 and above.' })
  @IsOptional()
  @IsIn(['all', 'failed'], { message: '$property must be all or failed.' })
  readonly which?: 'all' | 'failed';

  @ApiPropertyOptional({
    type: 'string',
    pattern: REQUEST_ID.source,
    description: 'The X-Request-Id of one.',
  })
  @IsOptional()
  @Matches(REQUEST_ID, {
    message: '$property must be 1 to 64 of A-Z a-z 0-9 . _ -, as X-Request-Id has them.',
  })
  readonly requestId?: string;
}

@ApiSchema({ name: 'OwnRequest' })
export class RequestBody {
  @ApiProperty({ type: 'string' })
  readonly id!: string;

  @ApiProperty({
    ...MAYBE_TEXT,
    description: 'X-Request-Id; null of requests of before it was kept.',
  })
  readonly requestId!: string | null;

  @ApiProperty({ ...MAYBE_TEXT, description: 'The beginning of the key.' })
  readonly keyPrefix!: string | null;

  @ApiProperty(TIME)
  readonly at!: string;

  @ApiProperty({ type: 'string' })
  readonly method!: string;

  @ApiProperty({ type: 'string', description: 'With the query, as it was sent; the beginning.' })
  readonly path!: string;

  @ApiProperty({ type: 'boolean' })
  readonly isPathCut!: boolean;

  @ApiProperty({ type: 'integer' })
  readonly status!: number;

  @ApiProperty({ ...MAYBE_TEXT, description: 'Of an error.' })
  readonly code!: string | null;

  @ApiProperty({ type: 'integer', description: 'Bytes of the body, all of it.' })
  readonly bodyBytes!: number;

  @ApiProperty({ type: 'integer', description: 'Microseconds.' })
  readonly durationUs!: number;
}

@ApiSchema({ name: 'OwnRequests' })
export class RequestsBody {
  @ApiProperty({ type: [RequestBody], description: 'Newest first.' })
  readonly requests!: RequestBody[];

  @ApiProperty({ ...MAYBE_TEXT, description: '`before` of the next page; null on the last.' })
  readonly next!: string | null;
}

@ApiSchema({ name: 'OwnAnsweredRequest' })
export class AnsweredRequestBody extends RequestBody {
  @ApiProperty({ type: 'string', description: 'Of the answer; the beginning, as UTF-8.' })
  readonly body!: string;

  @ApiProperty({ type: 'integer', description: 'Bytes of the body that were kept.' })
  readonly keptBytes!: number;

  @ApiProperty({ type: 'string', description: 'X-API-SIGNATURE.' })
  readonly signature!: string;

  @ApiProperty({ type: BaseStringBody })
  readonly baseString!: BaseStringBody;

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: 'Null where the bytes are not all there, or the secret.',
  })
  readonly verifies!: boolean | null;
}

export function requestBody(request: AnsweredRequest): RequestBody {
  return listed(request);
}

function listed(request: AnsweredRequest) {
  const { id, requestId, keyPrefix, at, method, path, pathLength } = request;
  const { status, code, bodyBytes, durationUs } = request;
  const isPathCut = path.length < pathLength;
  return {
    ...{ id: id.toString(), requestId, keyPrefix, at: text(at), method, path, isPathCut },
    ...{ status, code, bodyBytes, durationUs },
  };
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
    ...listed(request),
    ...{ body: body.toString('utf8'), keptBytes: body.length, signature },
    baseString: baseString(answeredOf(request)),
    verifies: verified,
  };
}
