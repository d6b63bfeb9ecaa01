import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import {
  EVENT_STATES,
  type LoggedAttempt,
  type LoggedEvent,
  messageId,
  type WebhookEventState,
} from '#libs/db';
import { Field } from '#libs/openapi';
import * as Input from '../http/inputs.js';
import { BeforeNumber } from './page.dto.js';

export class WebhookEventsQuery {
  @Input.Optional() @BeforeNumber() readonly before?: string;

  @ApiPropertyOptional({ enum: EVENT_STATES })
  @IsOptional()
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

export function eventBody({ id, orderKey, ...event }: LoggedEvent) {
  const { type, createdAt, state, attempts, finishedAt, lastStatus, lastError } = event;
  return {
    ...{ id: messageId(id), type, createdAt, state, attempts, finishedAt, lastStatus, lastError },
    walletAddress: orderKey.startsWith('0x') ? orderKey : null,
  } satisfies WebhookEventBody;
}

export function historyBody(
  event: LoggedEvent & { readonly history: readonly LoggedAttempt[] },
): WebhookHistoryBody {
  return { ...eventBody(event), payload: event.payload, history: event.history };
}
