import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiParam, ApiSchema } from '@nestjs/swagger';
import { type AnsweredRequest, readRequest, readRequests, readUsage } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { type ConsoleMember, CurrentMember, ForPartners } from '../auth/audience.js';
import * as Input from '../http/inputs.js';
import { baseString, BaseStringBody, verifies } from './base-string.js';
import { OwnRows } from './own-rows.js';
import { OwnSecrets } from './own-secrets.js';
import { BeforeNumber, lastOf, PAGE_SIZE, timesOf, WalletFilter } from './page.dto.js';

/** Request ids that the api accepts from callers. */
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
  @Field.Text('X-Request-Id.') readonly requestId!: string;
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
  @Field.Whole('Without an answer that can be used.') readonly errors!: number;
  @Field.Whole('Not sent at all.') readonly unsent!: number;
}

@ApiSchema({ name: 'OwnUsage' })
export class UsageBody {
  @Field.Time() readonly since!: Date;
  @Field.ListOf(RequestsOfHour) readonly requests!: readonly RequestsOfHour[];
  @Field.ListOf(CallsOfHour) readonly calls!: readonly CallsOfHour[];
}

const HOUR_MS = 3_600_000;

/** The log of the partner's requests to the api, with the answers. */
@Controller('api/partner')
@ForPartners()
export class RequestsController {
  constructor(
    private readonly rows: OwnRows,
    private readonly secrets: OwnSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('requests')
  @Operation('Requests to the api', 'Those of the last days, 50 a page.')
  @Answers(200, 'A page.', RequestsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async list(
    @Query() { before, status, which, wallet, requestId, ...times }: RequestsQuery,
    @CurrentMember() member: ConsoleMember,
  ): Promise<RequestsBody> {
    const page = {
      ...{ limit: PAGE_SIZE, before: before === undefined ? undefined : BigInt(before) },
      ...{ status: status === undefined ? undefined : Number(status) },
      ...{ failedOnly: which === 'failed', wallet: wallet?.toLowerCase(), ...timesOf(times) },
      requestId,
    };
    const found = await this.rows.read(member, (query) => readRequests(query, page));
    return { requests: found.map(requestBody), next: lastOf(found)?.id.toString() ?? null };
  }

  @Get('requests/:id')
  @Operation(
    'One request, its answer and what was signed',
    'The base string is rebuilt byte for byte, where all of the answer was kept.',
  )
  @ApiParam({ name: 'id', schema: Input.NUMBER_SCHEMA })
  @Answers(200, 'The request.', AnsweredRequestBody)
  @Fails(404, 'You have none with this id.', 'NOT_FOUND')
  async show(
    @Param('id') id: string,
    @CurrentMember() member: ConsoleMember,
  ): Promise<AnsweredRequestBody> {
    if (!Input.NUMBER_PATTERN.test(id)) {
      throw new HttpProblem(404, 'You have no request with this id.');
    }
    const found = await this.rows.readOne(member, 'request', (query) =>
      readRequest(query, BigInt(id)),
    );
    return answeredBody(found, await this.verifiesNow(member, found));
  }

  @Get('usage')
  @Operation('Requests and calls by hour', 'Hours without any are left out.')
  @Answers(200, 'By hour, the oldest first.', UsageBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async usage(
    @Query() { hours = '24' }: UsageQuery,
    @CurrentMember() member: ConsoleMember,
  ): Promise<UsageBody> {
    const nowMs = this.clock.nowMs();
    const since = new Date(Math.floor(nowMs / HOUR_MS + 1 - Number(hours)) * HOUR_MS);
    return { since, ...(await this.rows.read(member, (query) => readUsage(query, since))) };
  }

  /** Whether the signature verifies; null where credential or bytes are missing, or the secret cannot be opened. */
  private async verifiesNow(
    member: ConsoleMember,
    request: AnsweredRequest,
  ): Promise<boolean | null> {
    try {
      const sealed = await this.secrets.sealed(member);
      const own = sealed.find(({ credentialId }) => credentialId === request.credentialId);
      if (own === undefined) return null;
      return verifies(answeredOf(request), this.secrets.open(own), request.signature);
    } catch (error) {
      if (error instanceof LowmarkError) return null;
      throw error;
    }
  }
}

function requestBody(request: AnsweredRequest) {
  const { id, requestId, keyPrefix, at, method, path, pathLength } = request;
  const { status, code, bodyBytes, durationUs } = request;
  const isPathCut = path.length < pathLength;
  return {
    ...{ id: id.toString(), requestId, keyPrefix, at, method, path, isPathCut },
    ...{ status, code, bodyBytes, durationUs },
  } satisfies RequestBody;
}

function answeredOf({ method, path, pathLength, body, bodyBytes }: AnsweredRequest) {
  const isQueryOrWhole = path.length === pathLength || path.includes('?');
  const isWhole = isQueryOrWhole && (body.length === bodyBytes || method === 'HEAD');
  return { method, target: path, body, isWhole };
}

function answeredBody(request: AnsweredRequest, verified: boolean | null): AnsweredRequestBody {
  const { body, signature } = request;
  return {
    ...requestBody(request),
    ...{ body: body.toString('utf8'), keptBytes: body.length, signature },
    baseString: baseString(answeredOf(request)),
    verifies: verified,
  };
}
