import { Controller, Get, Inject, Param, Query, UseInterceptors } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { RedemptionLog } from '#libs/db';
import { parseUuidV7 } from '#libs/domain';
import { Answers, Fails, Operation } from '#libs/openapi';
import { CLOCK, type Clock } from '#libs/platform';
import { ForOperators } from '../../auth/audience.js';
import { callBody, CallsBody, HoursBody } from '../call.bodies.js';
import { REFUSALS } from '../refusals.js';
import { PAGE_SIZE } from '../schema.js';
import { CallsQuery, HoursQuery, PARTNER_ID, partnerIdOf } from './partner.requests.js';

const HOUR_MS = 3_600_000;

@Controller('api/operate/partners/:partner')
@ApiParam(PARTNER_ID)
@ForOperators('viewer')
@Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
@UseInterceptors(REFUSALS)
export class PartnerCallsController {
  constructor(
    private readonly log: RedemptionLog,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('calls')
  @Operation('Our calls to it', 'Newest first, page by page.')
  @Answers(200, 'The calls.', CallsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async calls(
    @Param('partner') partner: string,
    @Query() { after: text, ...only }: CallsQuery,
  ): Promise<CallsBody> {
    const page = { limit: PAGE_SIZE, after: text === undefined ? undefined : parseUuidV7(text) };
    const { entries, next = null } = await this.log.callsOfPartner(
      partnerIdOf(partner),
      page,
      only,
    );
    return { items: entries.map(callBody), next };
  }

  @Get('calls-per-hour')
  @Operation('Calls and errors over time', 'By hour and step.')
  @Answers(200, 'The hours.', HoursBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async perHour(
    @Param('partner') partner: string,
    @Query() { hours = '24' }: HoursQuery,
  ): Promise<HoursBody> {
    const sinceMs = this.clock.nowMs() - Number(hours) * HOUR_MS;
    return { hours: await this.log.callsPerHour(partnerIdOf(partner), sinceMs) };
  }
}
