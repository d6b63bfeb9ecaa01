import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { TEXT, TEXT_OR_NULL, TIME_OR_NULL } from '../schema.js';

export const SEVERITIES = ['critical', 'warning', 'info'] as const;

@ApiSchema({ name: 'Alert' })
export class AlertBody {
  @ApiProperty(TEXT)
  readonly name!: string;

  @ApiProperty({ enum: SEVERITIES })
  readonly severity!: (typeof SEVERITIES)[number];

  @ApiProperty(TEXT)
  readonly summary!: string;

  @ApiProperty(TIME_OR_NULL)
  readonly since!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'A page of this console, or a handbook’s.' })
  readonly link!: string | null;
}

@ApiSchema({ name: 'Alerts' })
export class AlertsBody {
  @ApiProperty({
    enum: ['alertmanager', 'console'],
    description: 'Without an Alertmanager the console asks the database and the services.',
  })
  readonly source!: 'alertmanager' | 'console';

  @ApiProperty({ type: [AlertBody] })
  readonly alerts!: AlertBody[];

  @ApiProperty({
    type: [String],
    description: 'Settings of services that the console cannot ask, where it asks them.',
  })
  readonly unknown!: string[];
}
