import { Controller, Get, Param, Query, UseInterceptors } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { readOwnWebhooks, WebhookLog } from '#libs/db';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { webhookEventId } from '#libs/operations';
import { HttpProblem } from '#libs/service';
import { type ConsoleMember, CurrentMember, ForPartners } from '../auth/audience.js';
import * as Input from '../http/inputs.js';
import { OwnRows } from './own-rows.js';
import { lastOf, PAGE_SIZE } from './page.dto.js';
import { REFUSALS } from './refusals.js';
import {
  eventBody,
  historyBody,
  WebhookEventsBody,
  WebhookEventsQuery,
  WebhookHistoryBody,
} from './webhook-log.dto.js';

const ID = { name: 'id', schema: Field.UUID };

/** What was sent to a webhook, and what was answered. */
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
    return historyBody(found);
  }
}

function knownId(id: string): string {
  if (Input.UUID_PATTERN.test(id)) return id.toLowerCase();
  throw new HttpProblem(404, 'You have no webhook with this id.');
}
