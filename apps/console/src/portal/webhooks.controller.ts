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
  addWebhook,
  type Operator,
  pauseWebhook,
  removeWebhook,
  replayWebhook,
  rotateWebhook,
  setWebhook,
  testWebhook,
  type WebhookChoice,
  webhookEventId,
  webhookId,
} from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { type ConsoleMember, CurrentMember, ForPartners, FreshSignIn } from '../auth/audience.js';
import { MemberLimit } from '../auth/member-limits.js';
import { ConsoleSettings } from '../console.env.js';
import { Secrets } from '../secrets.module.js';
import { memberActor, OwnRows } from './own-rows.js';
import { REFUSALS } from './refusals.js';
import {
  MadeWebhookBody,
  NewWebhookDto,
  PauseDto,
  ReplayDto,
  ReplayedBody,
  RotatedWebhookBody,
  TestBody,
  WebhookChangeDto,
  WebhookRotationDto,
  WebhooksBody,
} from './webhooks.dto.js';

const MALFORMED = 'The request is malformed; `field` or `message` says where.';
const MISSING = 'You have none with this id.';
const ID = { name: 'id', schema: Field.UUID };

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
  async add(
    @Body() { url, topics }: NewWebhookDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<MadeWebhookBody> {
    const { keyRing } = this.secrets;
    const { partnerId: partner } = member;
    const wish = { partner, url, topics, allowPrivate: this.allowPrivate };
    const by = operatorOf(member, 'add');
    return addWebhook(this.database, by, wish, keyRing);
  }

  @Post(':id/set')
  @HttpCode(204)
  @FreshSignIn()
  @Operation('Change a webhook', 'What is absent stays.')
  @ApiParam(ID)
  @Answers(204, 'It is set.')
  @Fails(400, MALFORMED, 'BAD_REQUEST')
  @Fails(404, MISSING, 'WEBHOOK_MISSING')
  async set(
    @Param('id') id: string,
    @Body() { url, topics }: WebhookChangeDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<void> {
    const change = { url, topics, allowPrivate: this.allowPrivate };
    const by = operatorOf(member, 'set');
    await setWebhook(this.database, by, choice(member, id), change);
  }

  @Post(':id/pause')
  @HttpCode(204)
  @MemberLimit('REVOKE')
  @Operation('Pause a webhook, or let it go on', 'What comes about while it is paused waits.')
  @ApiParam(ID)
  @Answers(204, 'It is paused, or goes on.')
  @Fails(400, MALFORMED, 'BAD_REQUEST')
  @Fails(404, MISSING, 'WEBHOOK_MISSING')
  async pause(
    @Param('id') id: string,
    @Body() { paused }: PauseDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<void> {
    const by = operatorOf(member, paused ? 'pause' : 'resume');
    const because = paused ? 'partner' : undefined;
    await pauseWebhook(this.database, by, choice(member, id), because);
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
  async rotate(
    @Param('id') id: string,
    @Body() { overlapHours }: WebhookRotationDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<RotatedWebhookBody> {
    const { keyRing } = this.secrets;
    const rotation = { ...choice(member, id), overlapHours };
    const by = operatorOf(member, 'rotate');
    return rotateWebhook(this.database, by, rotation, keyRing);
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
  async test(@Param('id') id: string, @CurrentMember() member: ConsoleMember): Promise<TestBody> {
    const by = operatorOf(member, 'test');
    const event = await testWebhook(this.database, by, choice(member, id), this.clock);
    return { event: messageId(event) };
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
    @Param('id') id: string,
    @Body() { event, since, delivered = false }: ReplayDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<ReplayedBody> {
    if ((event === undefined) === (since === undefined)) {
      throw new HttpProblem(400, 'Give either event or since.', { code: 'BAD_REQUEST' });
    }
    const by = operatorOf(member, 'replay');
    const wish =
      event === undefined
        ? { since: new Date(since ?? 0), delivered }
        : { event: webhookEventId(event) };
    return { events: await replayWebhook(this.database, by, choice(member, id), wish) };
  }

  @Post(':id/remove')
  @HttpCode(204)
  @MemberLimit('REVOKE')
  @FreshSignIn()
  @Operation('Remove a webhook', 'What waits is not sent, and its log is removed.')
  @ApiParam(ID)
  @Answers(204, 'It is removed.')
  @Fails(404, MISSING, 'WEBHOOK_MISSING')
  async remove(@Param('id') id: string, @CurrentMember() member: ConsoleMember): Promise<void> {
    const by = operatorOf(member, 'remove');
    await removeWebhook(this.database, by, choice(member, id));
  }
}

/** The partner is always that of the session, whatever the request says. @throws WebhookMissingError */
function choice({ partnerId }: ConsoleMember, webhook: string): WebhookChoice {
  return { partner: partnerId, webhook: webhookId(webhook) };
}

function operatorOf(member: ConsoleMember, what: string): Operator {
  return { actor: memberActor(member), command: `partner webhook ${what}` };
}
