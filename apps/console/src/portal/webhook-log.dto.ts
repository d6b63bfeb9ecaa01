import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import {
  EVENT_STATES,
  type LoggedAttempt,
  type LoggedEvent,
  messageId,
  type WebhookEventState,
} from '#libs/db';
import { ID_PATTERN, MAYBE_TEXT, MAYBE_TIME, text, TIME } from './page.dto.js';

export class WebhookEventsQuery {
  @ApiPropertyOptional({ type: 'string', pattern: ID_PATTERN.source, description: 'See `next`.' })
  @IsOptional()
  @Matches(ID_PATTERN, { message: '$property must be `next` of the page before.' })
  readonly before?: string;

  @ApiPropertyOptional({ enum: EVENT_STATES })
  @IsOptional()
  @IsIn(EVENT_STATES)
  readonly state?: WebhookEventState;
}

@ApiSchema({ name: 'WebhookEvent' })
export class WebhookEventBody {
  @ApiProperty({ type: 'string', description: '`webhook-id`.' })
  readonly id!: string;

  @ApiProperty({ type: 'string' })
  readonly type!: string;

  @ApiProperty({ ...MAYBE_TEXT, description: 'Whose events are sent one after the other.' })
  readonly walletAddress!: string | null;

  @ApiProperty(TIME)
  readonly createdAt!: string;

  @ApiProperty({ enum: EVENT_STATES })
  readonly state!: WebhookEventState;

  @ApiProperty({ type: 'integer', description: 'Since it was made or replayed.' })
  readonly attempts!: number;

  @ApiProperty(MAYBE_TIME)
  readonly finishedAt!: string | null;

  @ApiProperty({ type: 'integer', nullable: true })
  readonly lastStatus!: number | null;

  @ApiProperty(MAYBE_TEXT)
  readonly lastError!: string | null;
}

@ApiSchema({ name: 'WebhookEvents' })
export class WebhookEventsBody {
  @ApiProperty({ type: [WebhookEventBody], description: 'Newest first.' })
  readonly events!: WebhookEventBody[];

  @ApiProperty({ ...MAYBE_TEXT, description: '`before` of the next page.' })
  readonly next!: string | null;
}

@ApiSchema({ name: 'WebhookAttempt' })
export class WebhookAttemptBody {
  @ApiProperty(TIME)
  readonly at!: string;

  @ApiProperty({ enum: ['delivered', 'failed', 'gone'] })
  readonly outcome!: string;

  @ApiProperty({ type: 'integer', nullable: true })
  readonly status!: number | null;

  @ApiProperty(MAYBE_TEXT)
  readonly error!: string | null;

  @ApiProperty({ type: 'integer' })
  readonly durationMs!: number;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'Headers.' })
  readonly request!: object;

  @ApiProperty({
    ...{ type: 'object', additionalProperties: true },
    description: 'Headers, and the beginning of the body.',
  })
  readonly answer!: object;
}

@ApiSchema({ name: 'WebhookHistory' })
export class WebhookHistoryBody extends WebhookEventBody {
  @ApiProperty({ type: 'string', description: 'The bytes that are sent and signed.' })
  readonly payload!: string;

  @ApiProperty({ type: [WebhookAttemptBody], description: 'Newest first.' })
  readonly history!: WebhookAttemptBody[];
}

type Fields<Body> = { readonly [Name in keyof Body]: Body[Name] };

export function eventBody(event: LoggedEvent): Fields<WebhookEventBody> {
  const { id, type, orderKey, createdAt, state, attempts, finishedAt } = event;
  return {
    ...{ id: messageId(id), type, state, attempts },
    walletAddress: orderKey.startsWith('0x') ? orderKey : null,
    createdAt: text(createdAt),
    finishedAt: text(finishedAt),
    lastStatus: event.lastStatus,
    lastError: event.lastError,
  };
}

export function historyBody(
  event: LoggedEvent & { readonly history: readonly LoggedAttempt[] },
): WebhookHistoryBody {
  const history = event.history.map((one) => ({ ...one, at: text(one.at) }));
  return { ...eventBody(event), payload: event.payload, history };
}
