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
import { ApiExtraModels, ApiParam } from '@nestjs/swagger';
import { type PartnerId } from '#libs/domain';
import { CallbackStore, Database, PartnerStore, PartnerUnknownError } from '#libs/db';
import { Answers, Fails, Operation } from '#libs/openapi';
import { createPartner, pausePartner } from '#libs/operations';
import { parseName } from '#libs/names';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { ActionResultBody, actionResult, ReasonDto } from '../../approvals/approval.dto.js';
import {
  type ConsoleOperator,
  CurrentOperator,
  ForOperators,
  FreshSignIn,
} from '../../auth/audience.js';
import { OperateKeys } from '../operate-keys.js';
import { REFUSALS } from '../refusals.js';
import { createdPartnerId } from '../request-id.js';
import { PAGE_SIZE } from '../schema.js';
import { PartnerActions } from './partner-actions.js';
import { callbackChange } from './partner-change.js';
import {
  CallbackBody,
  issuedBody,
  IssuedBody,
  partnerBody,
  PartnerBody,
  PartnersBody,
  partnerSummary,
} from './partner.bodies.js';
import {
  NewPartnerDto,
  PARTNER_ID,
  PartnerChangeDto,
  partnerIdOf,
  PartnersQuery,
} from './partner.requests.js';

const RATE = 20;
const BURST = 100;

@Controller('api/operate/partners')
@ForOperators('viewer')
@UseInterceptors(REFUSALS)
@ApiExtraModels(CallbackBody)
export class PartnersController {
  constructor(
    private readonly database: Database,
    private readonly partners: PartnerStore,
    private readonly callbacks: CallbackStore,
    private readonly keys: OperateKeys,
    private readonly actions: PartnerActions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Operation('The partners', 'By name, page by page; all, or those with a part in it.')
  @Answers(200, 'The partners.', PartnersBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async list(@Query() { after, name }: PartnersQuery): Promise<PartnersBody> {
    const { entries, next = null } = await this.partners.page({ limit: PAGE_SIZE, after }, name);
    const callbacks = await this.callbacks.findAll(entries.map(({ partnerId }) => partnerId));
    const items = entries.map((partner) =>
      partnerSummary({ partner, callback: callbacks.get(partner.partnerId) }),
    );
    return { items, next };
  }

  @Get(':partner')
  @Operation('One partner', 'All but its secrets.')
  @ApiParam(PARTNER_ID)
  @Answers(200, 'The partner.', PartnerBody)
  @Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
  show(@Param('partner') id: string): Promise<PartnerBody> {
    return this.bodyOf(partnerIdOf(id));
  }

  @Post()
  @HttpCode(201)
  @ForOperators('admin')
  @FreshSignIn()
  @Operation('Create a partner', 'With its first credential, which no other answer shows again.')
  @Answers(201, 'The credential.', IssuedBody)
  @Fails(
    400,
    'The request is malformed, or does not fit together.',
    'BAD_REQUEST',
    'OPTION_INVALID',
  )
  @Fails(409, 'It cannot be created so.', 'PARTNER_EXISTS', 'ALREADY_DONE', 'APPROVAL_NEEDED')
  async create(
    @Body() dto: NewPartnerDto,
    @CurrentOperator() operator: ConsoleOperator,
  ): Promise<IssuedBody> {
    const { name, fault } = parseName(dto.name);
    if (fault !== undefined) throw HttpProblem.badRequest('name', `name ${fault}.`);
    const keyRing = this.keys.keyRing('partner create --name NAME');
    const { rate = RATE, burst = BURST, stakeSet } = dto;
    const id = createdPartnerId(operator, dto.request);
    const callback = callbackChange(dto.callback);
    this.actions.requireSetLater(callback);
    const partner = { id, name, rate, burst, stakeSet, callback };
    if ((await this.partners.find(id)) !== undefined) throw alreadyDone();
    const command = { actor: operator.actor, command: 'partner create' };
    try {
      return issuedBody((await createPartner(this.database, command, partner, keyRing)).issued);
    } catch (error) {
      // The same request was sent twice at once, and the other one has created the partner.
      if ((await this.partners.find(id)) !== undefined) throw alreadyDone();
      throw error;
    }
  }

  @Post(':partner/settings')
  @HttpCode(200)
  @ForOperators('admin')
  @FreshSignIn()
  @Operation(
    'Set a partner',
    'What is absent stays as it is. A change of the callback waits for a second operator where there is a set value, but for one that only lowers the daily budget.',
  )
  @ApiParam(PARTNER_ID)
  @Answers(200, 'Done, or asked of a second operator.', ActionResultBody)
  @Fails(
    400,
    'The request is malformed, or does not fit together.',
    'BAD_REQUEST',
    'OPTION_INVALID',
  )
  @Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
  @Fails(409, 'It is asked for already.', 'APPROVAL_PENDING')
  async set(
    @Param('partner') id: string,
    @Body() dto: PartnerChangeDto,
    @CurrentOperator() operator: ConsoleOperator,
  ): Promise<ActionResultBody> {
    const performed = await this.actions.performSet(operator, partnerIdOf(id), dto);
    return actionResult(performed, operator.subject, this.clock.nowMs());
  }

  @Post(':partner/pause')
  @HttpCode(200)
  @ForOperators('operator')
  @Operation('Take no new redemptions', 'The kill switch.')
  @ApiParam(PARTNER_ID)
  @Answers(200, 'The partner.', PartnerBody)
  @Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
  @Fails(409, 'It has no callback.', 'PARTNER_MISSING')
  async pause(
    @Param('partner') text: string,
    @CurrentOperator() { actor }: ConsoleOperator,
  ): Promise<PartnerBody> {
    const partner = partnerIdOf(text);
    await pausePartner(this.database, { actor, command: 'partner pause' }, partner, true);
    return this.bodyOf(partner);
  }

  @Post(':partner/resume')
  @HttpCode(200)
  @ForOperators('operator')
  @FreshSignIn()
  @Operation(
    'Take redemptions again',
    'The end of a pause; by a second operator where there is a set value.',
  )
  @ApiParam(PARTNER_ID)
  @Answers(200, 'Done, or asked of a second operator.', ActionResultBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'There is no such partner.', 'PARTNER_UNKNOWN')
  @Fails(409, 'It has no callback, or is asked for already.', 'PARTNER_MISSING', 'APPROVAL_PENDING')
  async resume(
    @Param('partner') id: string,
    @Body() { reason }: ReasonDto,
    @CurrentOperator() operator: ConsoleOperator,
  ): Promise<ActionResultBody> {
    const performed = await this.actions.performResume(operator, partnerIdOf(id), reason);
    return actionResult(performed, operator.subject, this.clock.nowMs());
  }

  private async bodyOf(id: PartnerId): Promise<PartnerBody> {
    const partner = await this.partners.find(id);
    if (partner === undefined) throw new PartnerUnknownError();
    return partnerBody({ partner, callback: await this.callbacks.find(id) });
  }
}

function alreadyDone(): HttpProblem {
  const message =
    'This request has created the partner already, and its secret was shown then. If it is lost: add a credential and revoke the first.';
  return new HttpProblem(409, message, { code: 'ALREADY_DONE' });
}
