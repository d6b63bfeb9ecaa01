import { ApiSchema } from '@nestjs/swagger';
import * as Field from '../../http/fields.js';

export const SEVERITIES = ['critical', 'warning', 'info'] as const;

@ApiSchema({ name: 'Alert' })
export class AlertBody {
  @Field.Text() readonly name!: string;
  @Field.OneOf(SEVERITIES) readonly severity!: (typeof SEVERITIES)[number];
  @Field.Text() readonly summary!: string;
  @Field.TimeOrNull() readonly since!: string | null;
  @Field.TextOrNull('A page of this console, or a handbook’s.') readonly link!: string | null;
}

@ApiSchema({ name: 'Alerts' })
export class AlertsBody {
  @Field.OneOf(
    ['alertmanager', 'console'],
    'Without an Alertmanager the console asks the database and the services.',
  )
  readonly source!: 'alertmanager' | 'console';
  @Field.ListOf(AlertBody) readonly alerts!: AlertBody[];
  @Field.ListOf(String, 'Settings of services that the console cannot ask, where it asks them.')
  readonly unknown!: string[];
}
