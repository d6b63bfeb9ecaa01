import { Controller, Get, Param, Query, UseInterceptors } from '@nestjs/common';
import { ApiParam, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { parseWebhookId, type WebhookId } from '#libs/domain';
import {
  EVENT_STATES,
  type LoggedEvent,
  messageId,
  readOwnWebhooks,
  type WebhookEventState,
  WebhookLog,
} from '#libs/db';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { webhookEventId } from '#libs/operations';
import { HttpProblem, MayBeAbsent } from '#libs/service';
import { type ConsoleMember, CurrentMember, ForPartners } from '../auth/audience.js';
import * as Input from '../http/inputs.js';
import { OwnRows } from './own-rows.js';
import { BeforeNumber, lastOf, PAGE_SIZE } from './page.dto.js';
import { REFUSALS } from './refusals.js';

export class WebhookEventsQuery {
  @Input.Optional() @BeforeNumber() readonly before?: string;

  @ApiPropertyOptional({ enum: EVENT_STATES })
  @MayBeAbsent()
  @IsIn(EVENT_STATES)
  readonly state?: WebhookEventState;
}

@ApiSchema({ name: 'WebhookEvent' })
export class WebhookEventBody {
  @Field.Text('`webhook-id`.') readonly id!: string;
  @Field.Text() readonly type!: string;
  @Field.TextOrNull('Whose events are sent one after the other.')
  readonly walletAddress!: string | null;
  @Field.Time() readonly createdAt!: Date;
  @Field.OneOf(EVENT_STATES) readonly state!: WebhookEventState;
  @Field.Whole('Since it was made or replayed.') readonly attempts!: number;
  @Field.TimeOrNull() readonly finishedAt!: Date | null;
  @Field.WholeOrNull() readonly lastStatus!: number | null;
  @Field.TextOrNull() readonly lastError!: string | null;
}

@ApiSchema({ name: 'WebhookEvents' })
export class WebhookEventsBody {
  @Field.ListOf(WebhookEventBody, 'Newest first.') readonly events!: WebhookEventBody[];
  @Field.TextOrNull('`before` of the next page.') readonly next!: string | null;
}

@ApiSchema({ name: 'WebhookAttempt' })
export class WebhookAttemptBody {
  @Field.Time() readonly at!: Date;
  @Field.OneOf(['delivered', 'failed', 'gone']) readonly outcome!: string;
  @Field.WholeOrNull() readonly status!: number | null;
  @Field.TextOrNull() readonly error!: string | null;
  @Field.Whole() readonly durationMs!: number;
  @Field.Json('Headers.') readonly request!: object;
  @Field.Json('Headers, and the beginning of the body.') readonly answer!: object;
}

@ApiSchema({ name: 'WebhookHistory' })
export class WebhookHistoryBody extends WebhookEventBody {
  @Field.Text('The bytes that are sent and signed.') readonly payload!: string;
  @Field.ListOf(WebhookAttemptBody, 'Newest first.')
  readonly history!: readonly WebhookAttemptBody[];
}

const ID = { name: 'id', schema: Field.UUID };

@Controller('api/partner/webhooks/:id/events')
@ApiParam(ID)
@ForPartners()
@UseInterceptors(REFUSALS)
export class WebhookLogController {
  constructor(private readonly rows: OwnRows) {}

  @Get()
  @Operation('Events of a webhook', '50 a page.')
  @Answers(200, 'A page.', WebhookEventsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'You have none with this id.', 'NOT_FOUND')
  async list(
    @Param('id') id: string,
    @Query() { before, state }: WebhookEventsQuery,
    @CurrentMember() member: ConsoleMember,
  ): Promise<WebhookEventsBody> {
    const subscription = knownId(id);
    const page = {
      ...{ subscription, limit: PAGE_SIZE, state },
      before: before === undefined ? undefined : BigInt(before),
    };
    const events = await this.rows.readOne(member, 'webhook', async (query) => {
      const own = await readOwnWebhooks(query);
      return own.some((one) => one.id === subscription)
        ? WebhookLog.ofPartner(query).events(page)
        : undefined;
    });
    return { events: events.map(eventBody), next: lastOf(events)?.sequence.toString() ?? null };
  }

  @Get(':event')
  @Operation('One event and its attempts', 'The newest hundred.')
  @ApiParam({ name: 'event', schema: { type: 'string' }, description: '`msg_…`' })
  @Answers(200, 'The event.', WebhookHistoryBody)
  @Fails(404, 'You have none with this id.', 'NOT_FOUND', 'WEBHOOK_EVENT_MISSING')
  async show(
    @Param('id') id: string,
    @Param('event') event: string,
    @CurrentMember() member: ConsoleMember,
  ): Promise<WebhookHistoryBody> {
    const eventId = webhookEventId(event);
    const found = await this.rows.readOne(member, 'event', (query) =>
      WebhookLog.ofPartner(query).event(knownId(id), eventId),
    );
    return { ...eventBody(found), payload: found.payload, history: found.history };
  }
}

function knownId(text: string): WebhookId {
  const id = parseWebhookId(text);
  if (id !== undefined) return id;
  throw new HttpProblem(404, 'You have no webhook with this id.');
}

function eventBody({ id, orderKey, ...event }: LoggedEvent) {
  const { type, createdAt, state, attempts, finishedAt, lastStatus, lastError } = event;
  return {
    ...{ id: messageId(id), type, createdAt, state, attempts, finishedAt, lastStatus, lastError },
    walletAddress: orderKey.startsWith('0x') ? orderKey : null,
  } satisfies WebhookEventBody;
}
