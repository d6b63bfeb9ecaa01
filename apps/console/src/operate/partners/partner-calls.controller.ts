import {
  Body,
  Controller,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  UseInterceptors,
} from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Database, RedemptionLog } from '#libs/db';
import { parseAddress, parseUuidV7 } from '#libs/domain';
import { Answers, Fails, Operation } from '#libs/openapi';
import { pingPartner } from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { type ConsoleOperator, CurrentOperator, ForOperators } from '../../auth/audience.js';
import { ConsoleSettings } from '../../console.env.js';
import { callBody, CallsBody, HoursBody } from '../call.bodies.js';
import { OperateKeys } from '../operate-keys.js';
import { REFUSALS } from '../refusals.js';
import { PAGE_SIZE } from '../schema.js';
import { PingBody } from './partner.bodies.js';
import { CallsQuery, HoursQuery, PARTNER_ID, partnerIdOf, PingDto } from './partner.requests.js';

const HOUR_MS = 3_600_000;
const PING_SECONDS = 10;

@Controller('api/operate/partners/:partner')
@ApiParam(PARTNER_ID)
@ForOperators('viewer')
@Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
@UseInterceptors(REFUSALS)
export class PartnerCallsController {
  constructor(
    private readonly database: Database,
    private readonly log: RedemptionLog,
    private readonly keys: OperateKeys,
    private readonly settings: ConsoleSettings,
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

  @Post('ping')
  @HttpCode(200)
  @ForOperators('operator')
  @Operation(
    'Read a balance now',
    'As the service would; the report says what to mend. Changes nothing.',
  )
  @Answers(200, 'What came of it.', PingBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(409, 'It has no callback.', 'PARTNER_MISSING')
  async ping(
    @Param('partner') text: string,
    @Body() { address: given }: PingDto,
    @CurrentOperator() { actor }: ConsoleOperator,
  ): Promise<PingBody> {
    const partner = partnerIdOf(text);
    const address = parseAddress(given);
    if (address === undefined) {
      throw HttpProblem.badRequest('address', 'address must be 0x and 40 hex digits.');
    }
    const keyRing = this.keys.keyRing(`partner ping ${partner} --address ${address}`);
    const { database, clock } = this;
    // The redemption service obeys the same setting, so the test call reaches what the service reaches.
    const { allowPrivatePartners: allowPrivate } = this.settings;
    const report = await pingPartner(
      { database, clock, keyRing },
      { actor, command: 'partner ping' },
      { partner, address, timeoutSeconds: PING_SECONDS, allowPrivate },
    );
    const { good, mend, outcome, requestId, request } = report;
    return { good, mend, outcome, requestId, signedContent: request?.content ?? null, report };
  }
}
