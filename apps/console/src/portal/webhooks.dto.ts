import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { WEBHOOK_TOPICS } from '#libs/domain';
import { Field } from '#libs/openapi';

@ApiSchema({ name: 'WebhookPause' })
export class PauseDto {
  @Field.Flag()
  @IsBoolean()
  readonly paused!: boolean;
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
