import { ApiProperty, ApiPropertyOptional, ApiSchema, PartialType } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn } from 'class-validator';
import { WEBHOOK_TOPICS, type WebhookTopic } from '#libs/domain';
import { Field } from '#libs/openapi';
import { LONGEST_OVERLAP_HOURS } from '#libs/operations';
import { MayBeAbsent } from '#libs/service';
import * as Input from '../http/inputs.js';

@ApiSchema({ name: 'NewWebhook' })
export class NewWebhookDto {
  @Input.TextUpTo(2000, { description: '`https://`, public, without a query.' })
  readonly url!: string;

  @ApiProperty({ isArray: true, enum: WEBHOOK_TOPICS })
  @IsArray()
  @ArrayMaxSize(WEBHOOK_TOPICS.length)
  @IsIn(WEBHOOK_TOPICS, { each: true })
  readonly topics!: WebhookTopic[];
}

@ApiSchema({ name: 'WebhookChange' })
export class WebhookChangeDto extends PartialType(NewWebhookDto, { skipNullProperties: false }) {}

@ApiSchema({ name: 'WebhookPause' })
export class PauseDto {
  @Field.Flag()
  @IsBoolean()
  readonly paused!: boolean;
}

@ApiSchema({ name: 'WebhookRotation' })
export class WebhookRotationDto {
  @Input.Whole(
    { minimum: 0, maximum: LONGEST_OVERLAP_HOURS },
    `be a whole number from 0 to ${LONGEST_OVERLAP_HOURS}`,
  )
  readonly overlapHours!: number;
}

@ApiSchema({ name: 'WebhookReplay' })
export class ReplayDto {
  @Input.Optional()
  @Input.TextUpTo(64, { description: 'One event: its id, `msg_…`.' })
  readonly event?: string;

  @Input.Optional() @Input.Moment('All that came about then or later.') readonly since?: string;

  @ApiPropertyOptional({ type: 'boolean', description: 'Also those that were delivered.' })
  @MayBeAbsent()
  @IsBoolean()
  readonly delivered?: boolean;
}

@ApiSchema({ name: 'Webhook' })
export class WebhookBody {
  @Field.Uuid() readonly id!: string;
  @Field.Text() readonly url!: string;

  @ApiProperty({ isArray: true, enum: WEBHOOK_TOPICS })
  readonly topics!: readonly string[];
  @Field.Text('Whose sealed days are told.') readonly stakeSet!: string;
  @Field.TimeOrNull() readonly pausedAt!: Date | null;
  @Field.TextOrNull('`gone`: its address answered 410.') readonly pausedBecause!: string | null;
  @Field.Time() readonly createdAt!: Date;
  @Field.TimeOrNull() readonly rotatedAt!: Date | null;
  @Field.TimeOrNull('When something was delivered last.') readonly lastDeliveredAt!: Date | null;
  @Field.Whole('Events neither delivered nor given up.') readonly waiting!: number;
  @Field.Flag('Whether what is sent is not taken: the log of its events says why.')
  readonly isFailing!: boolean;
}

@ApiSchema({ name: 'Webhooks' })
export class WebhooksBody {
  @Field.ListOf(WebhookBody) readonly webhooks!: WebhookBody[];
}

@ApiSchema({ name: 'MadeWebhook' })
export class MadeWebhookBody {
  @Field.Uuid() readonly id!: string;
  @Field.Text('Signs what is sent; shown this once.') readonly secret!: string;
}

@ApiSchema({ name: 'RotatedWebhook' })
export class RotatedWebhookBody {
  @Field.Text('Shown this once.') readonly secret!: string;
  @Field.Time('The one of before signs until then.') readonly goodUntil!: Date;
}

@ApiSchema({ name: 'WebhookTest' })
export class TestBody {
  @Field.Text('`webhook-id`.') readonly event!: string;
}

@ApiSchema({ name: 'ReplayedWebhook' })
export class ReplayedBody {
  @Field.Whole() readonly events!: number;
}
