import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type AnsweredRequest, readRequest, readRequests, readUsage } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { Answers, Fails, Operation } from '#libs/openapi';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { type ConsoleMember, CurrentMember, ForPartners } from '../auth/audience.js';
import { verifies } from './base-string.js';
import { OwnRows } from './own-rows.js';
import { OwnSecrets } from './own-secrets.js';
import { ID_PATTERN, lastOf, PAGE_SIZE, timesOf } from './page.dto.js';
import {
  answeredBody,
  AnsweredRequestBody,
  answeredOf,
  requestBody,
  RequestsBody,
  RequestsQuery,
  UsageBody,
  UsageQuery,
} from './requests.dto.js';

const HOUR_MS = 3_600_000;

/** What the partner asked of the api and was answered. */
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
  @ApiParam({ name: 'id', schema: { type: 'string', pattern: ID_PATTERN.source } })
  @Answers(200, 'The request.', AnsweredRequestBody)
  @Fails(404, 'You have none with this id.', 'NOT_FOUND')
  async show(
    @Param('id') id: string,
    @CurrentMember() member: ConsoleMember,
  ): Promise<AnsweredRequestBody> {
    if (!ID_PATTERN.test(id)) throw new HttpProblem(404, 'You have no request with this id.');
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

  /** Null where it cannot be found out. */
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
