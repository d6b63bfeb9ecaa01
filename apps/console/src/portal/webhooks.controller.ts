import {
  Body,
  Controller,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  UseInterceptors,
} from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Database, messageId, readOwnWebhooks } from '#libs/db';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import {
  AddWebhook,
  type OnPartner,
  PauseWebhook,
  prepared,
  RemoveWebhook,
  ReplayWebhook,
  ResumeWebhook,
  RotateWebhook,
  SetWebhook,
  TestWebhook,
} from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { type ConsoleMember, CurrentMember, ForPartners, FreshSignIn } from '../auth/audience.js';
import { MemberLimit } from '../auth/member-limits.js';
import { ConsoleSettings } from '../console.env.js';
import { describeFields } from '../operate/operation/describe-fields.js';
import { Secrets } from '../secrets.module.js';
import { memberActor, OwnRows } from './own-rows.js';
import { REFUSALS } from './refusals.js';
import {
  MadeWebhookBody,
  PauseDto,
  ReplayedBody,
  RotatedWebhookBody,
  TestBody,
  WebhooksBody,
} from './webhooks.dto.js';

const MALFORMED = 'The request is malformed; `field` or `message` says where.';
const MISSING = 'You have none with this id.';
const ID = { name: 'id', schema: Field.UUID };

for (const type of [AddWebhook, SetWebhook, RotateWebhook, ReplayWebhook]) describeFields(type);

@Controller('api/partner/webhooks')
@ForPartners()
@UseInterceptors(REFUSALS)
export class WebhooksController {
  private readonly allowPrivate: boolean;

  constructor(
    private readonly rows: OwnRows,
    private readonly secrets: Secrets,
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
    { allowPrivatePartners }: ConsoleSettings,
  ) {
    this.allowPrivate = allowPrivatePartners;
  }

  @Get()
  @Operation('Webhooks', 'Where you are told of what; no secret.')
  @Answers(200, 'All of them, the oldest first.', WebhooksBody)
  async list(@CurrentMember() member: ConsoleMember): Promise<WebhooksBody> {
    return { webhooks: await this.rows.read(member, readOwnWebhooks) };
  }

  @Post()
  @HttpCode(200)
  @FreshSignIn()
  @Operation('Add a webhook', 'Its secret is shown once.')
  @Answers(200, 'It is told from now on.', MadeWebhookBody)
  @Fails(400, MALFORMED, 'BAD_REQUEST')
  @Fails(409, 'You have ten.', 'TOO_MANY_WEBHOOKS')
  add(
    @Body() webhook: AddWebhook,
    @CurrentMember() member: ConsoleMember,
  ): Promise<MadeWebhookBody> {
    return this.perform(member, webhook);
  }

  @Post(':id/set')
  @HttpCode(204)
  @FreshSignIn()
  @Operation('Change a webhook', 'What is absent stays.')
  @ApiParam(ID)
  @Answers(204, 'It is set.')
  @Fails(400, MALFORMED, 'BAD_REQUEST')
  @Fails(404, MISSING, 'WEBHOOK_MISSING')
  set(
    @Param('id') webhook: string,
    @Body() change: SetWebhook,
    @CurrentMember() member: ConsoleMember,
  ): Promise<void> {
    return this.perform(member, Object.assign(change, { webhook }));
  }

  @Post(':id/pause')
  @HttpCode(204)
  @MemberLimit('REVOKE')
  @Operation('Pause a webhook, or let it go on', 'What comes about while it is paused waits.')
  @ApiParam(ID)
  @Answers(204, 'It is paused, or goes on.')
  @Fails(400, MALFORMED, 'BAD_REQUEST')
  @Fails(404, MISSING, 'WEBHOOK_MISSING')
  pause(
    @Param('id') webhook: string,
    @Body() { paused }: PauseDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<void> {
    return this.perform(
      member,
      paused
        ? prepared(PauseWebhook, { webhook, by: 'partner' })
        : prepared(ResumeWebhook, { webhook }),
    );
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @FreshSignIn()
  @Operation(
    'Make another secret',
    'Shown once; the one of before signs beside it for the hours that are chosen.',
  )
  @ApiParam(ID)
  @Answers(200, 'The secret.', RotatedWebhookBody)
  @Fails(400, MALFORMED, 'BAD_REQUEST')
  @Fails(404, MISSING, 'WEBHOOK_MISSING')
  rotate(
    @Param('id') webhook: string,
    @Body() rotation: RotateWebhook,
    @CurrentMember() member: ConsoleMember,
  ): Promise<RotatedWebhookBody> {
    return this.perform(member, Object.assign(rotation, { webhook }));
  }

  @Post(':id/test')
  @HttpCode(200)
  @MemberLimit('SEND')
  @Operation(
    'Send a test event',
    'The log says what becomes of it. One that waits already is tried at once.',
  )
  @ApiParam(ID)
  @Answers(200, 'It is on its way.', TestBody)
  @Fails(404, MISSING, 'WEBHOOK_MISSING')
  async test(
    @Param('id') webhook: string,
    @CurrentMember() member: ConsoleMember,
  ): Promise<TestBody> {
    return { event: messageId(await this.perform(member, prepared(TestWebhook, { webhook }))) };
  }

  @Post(':id/replay')
  @HttpCode(200)
  @MemberLimit('SEND')
  @Operation(
    'Send events again',
    'One, or those since a time that were given up, or all of them. What waits is tried at once.',
  )
  @ApiParam(ID)
  @Answers(200, 'How many.', ReplayedBody)
  @Fails(400, MALFORMED, 'BAD_REQUEST')
  @Fails(404, MISSING, 'WEBHOOK_MISSING', 'WEBHOOK_EVENT_MISSING')
  async replay(
    @Param('id') webhook: string,
    @Body() replay: ReplayWebhook,
    @CurrentMember() member: ConsoleMember,
  ): Promise<ReplayedBody> {
    return { events: await this.perform(member, Object.assign(replay, { webhook })) };
  }

  @Post(':id/remove')
  @HttpCode(204)
  @MemberLimit('REVOKE')
  @FreshSignIn()
  @Operation('Remove a webhook', 'What waits is not sent, and its log is removed.')
  @ApiParam(ID)
  @Answers(204, 'It is removed.')
  @Fails(404, MISSING, 'WEBHOOK_MISSING')
  remove(@Param('id') webhook: string, @CurrentMember() member: ConsoleMember): Promise<void> {
    return this.perform(member, prepared(RemoveWebhook, { webhook }));
  }

  /** The partner is always that of the session, whatever the request says. */
  private perform<Result>(member: ConsoleMember, operation: OnPartner<Result>): Promise<Result> {
    operation.partner = member.partnerId;
    const { database, clock, allowPrivate } = this;
    const keyRing = () => this.secrets.keyRing;
    const actor = memberActor(member);
    return operation.perform({ database, clock, actor, allowPrivate, keyRing });
  }
}
