import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { type OwnUsage } from '#libs/db';
import { text, TIME } from './page.dto.js';

const HOURS = ['24', '72', '168'] as const;
const COUNT = { type: 'integer' } as const;

export class UsageQuery {
  @ApiPropertyOptional({ enum: HOURS, default: '24' })
  @IsOptional()
  @IsIn(HOURS, { message: '$property must be 24, 72 or 168.' })
  readonly hours?: (typeof HOURS)[number];
}

@ApiSchema({ name: 'OwnRequestsOfHour' })
export class RequestsOfHour {
  @ApiProperty({ ...TIME, description: 'The beginning of the hour, UTC.' })
  readonly hour!: string;

  @ApiProperty({ ...COUNT, description: 'Status below 400.' })
  readonly answered!: number;

  @ApiProperty({ ...COUNT, description: 'Status 400 to 499, but for 429.' })
  readonly refused!: number;

  @ApiProperty({ ...COUNT, description: 'Status 429.' })
  readonly limited!: number;

  @ApiProperty({ ...COUNT, description: 'Status 500 and above.' })
  readonly failed!: number;
}

@ApiSchema({ name: 'OwnCallsOfHour' })
export class CallsOfHour {
  @ApiProperty({ ...TIME, description: 'The beginning of the hour, UTC.' })
  readonly hour!: string;

  @ApiProperty({ ...COUNT, description: 'All calls of ours.' })
  readonly calls!: number;

  @ApiProperty({
    ...COUNT,
    description: 'No answer, none to be believed, or status 500 and above.',
  })
  readonly errors!: number;

  @ApiProperty({ ...COUNT, description: 'Not sent at all.' })
  readonly unsent!: number;
}

@ApiSchema({ name: 'OwnUsage' })
export class UsageBody {
  @ApiProperty(TIME)
  readonly since!: string;

  @ApiProperty({ type: [RequestsOfHour] })
  readonly requests!: RequestsOfHour[];

  @ApiProperty({ type: [CallsOfHour] })
  readonly calls!: CallsOfHour[];
}

export function usageBody({ requests, calls }: OwnUsage, since: Date): UsageBody {
  return {
    since: text(since),
    requests: requests.map((one) => ({ ...one, hour: text(one.hour) })),
    calls: calls.map((one) => ({ ...one, hour: text(one.hour) })),
  };
}
