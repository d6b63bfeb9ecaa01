import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import {
  type AccountId,
  type Address,
  dayOf,
  type DayWindow,
  parseAccountId,
  parseAddress,
  parseDay,
  SECONDS_PER_DAY,
  windowBefore,
  windowOf,
} from '#libs/domain';
import { Field } from '#libs/openapi';
import { HttpProblem } from '#libs/service';
import { badParameter } from '../http/parameter.js';

export const MAX_DAYS = 30;
export const DEFAULT_DAYS = 7;
const DAYS = /^(?:[1-9]|[12]\d|30)$/;

export const ASKED_WALLET = {
  description: '0x and 40 hex digits in any case; given once.',
  type: String,
  pattern: '^0x[0-9a-fA-F]{40}$',
  example: '0x52908400098527886e0f7030069857d2e4169ee7',
} as const;
export const ASKED_CONTRACT = {
  description:
    'The staking contract that is meant, by its account id (CAIP-10), the address in any case; given at most once. Without it the one agreed for your partner account.',
  type: String,
  pattern: '^eip155:[1-9][0-9]{0,15}:0x[0-9a-fA-F]{40}$',
} as const;
export const GIVEN_CONTRACT = {
  description:
    'The account id that was asked for, its address in lower case; with `contract` only.',
  type: String,
  pattern: '^eip155:[1-9][0-9]{0,15}:0x[0-9a-f]{40}$',
} as const;

export class SnapshotQuery {
  @ApiProperty(ASKED_WALLET)
  readonly walletAddress!: Address;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'In plain digits; given at most once.',
    minimum: 1,
    maximum: MAX_DAYS,
    default: DEFAULT_DAYS,
  })
  readonly lastDays!: number;

  @ApiPropertyOptional({
    description:
      'The last day of the window, UTC, of the past; given at most once. Without it the day before the request.',
    type: String,
    format: 'date',
    example: '2026-11-20',
  })
  /** In days since 1970-01-01 UTC. */
  readonly endDay?: number | undefined;

  @ApiPropertyOptional({
    ...ASKED_CONTRACT,
    example: 'eip155:1:0x2222222222222222222222222222222222222222',
  })
  readonly contract?: AccountId | undefined;
}

/**
 * Checks the four fields by hand, because this runs on every request. A parameter that was sent twice arrives as a list
 * and is refused; unknown parameters are ignored.
 * @throws HttpProblem 400
 */
export function parseSnapshotQuery({
  walletAddress: text,
  lastDays = String(DEFAULT_DAYS),
  endDay: day,
  contract: account,
}: Readonly<Record<string, unknown>>): SnapshotQuery {
  const walletAddress = walletFrom(text);
  if (typeof lastDays !== 'string' || !DAYS.test(lastDays)) {
    throw badParameter('lastDays', lastDays, 'a whole number from 1 to 30 in plain digits');
  }
  const query = { walletAddress, lastDays: Number(lastDays) };
  if (account === undefined && day === undefined) return query;
  return { ...query, endDay: endDayFrom(day), contract: contractFrom(account) };
}

/** @throws HttpProblem 400 */
export function walletFrom(text: unknown): Address {
  const wallet = typeof text === 'string' ? parseAddress(text) : undefined;
  if (wallet !== undefined) return wallet;
  throw badParameter('walletAddress', text, '0x and 40 hex digits');
}

/** @throws HttpProblem 400 */
export function endDayFrom(day: unknown): number | undefined {
  if (day === undefined) return undefined;
  const endDay = typeof day === 'string' ? parseDay(day) : undefined;
  if (endDay !== undefined) return endDay;
  throw badParameter('endDay', day, 'a day of the calendar from 1970 on, such as 2026-11-20');
}

/** @throws HttpProblem 400 */
export function contractFrom(account: unknown): AccountId | undefined {
  if (account === undefined) return undefined;
  const contract = typeof account === 'string' ? parseAccountId(account) : undefined;
  if (contract !== undefined) return contract;
  throw badParameter(
    'contract',
    account,
    'eip155:, the number of the chain, a colon, and 0x with 40 hex digits',
  );
}

export interface AskedDays {
  readonly lastDays: number;
  /** The last day of the window, in days since 1970-01-01 UTC. Absent: the day before the request. */
  readonly endDay?: number | undefined;
}

/** @throws HttpProblem 400 (the last day is in the future), 409 (the last day is not over) */
export function askedWindow({ lastDays, endDay: lastDay }: AskedDays, nowMs: number): DayWindow {
  if (lastDay === undefined) return windowOf(nowMs, lastDays);
  const today = dayOf(nowMs / 1000);
  if (lastDay > today) throw new HttpProblem(400, 'endDay must not be in the future.');
  const window = windowBefore(lastDay + 1, lastDays);
  if (lastDay === today) {
    const end = new Date((today + 1) * SECONDS_PER_DAY * 1000).toISOString();
    throw new HttpProblem(409, `The day of endDay is not over: ask from ${end} on.`, {
      code: 'DAY_NOT_OVER',
      retryAfterSeconds: Math.ceil(window.endSeconds - nowMs / 1000),
    });
  }
  return window;
}

const Amount = Field.field({ type: 'number', minimum: 0 });

@ApiSchema({ name: 'Snapshot' })
export class SnapshotAnswer {
  @Field.Time('00:00:00.000 UTC.') readonly from!: string;
  @Field.Time('23:59:59.999 UTC of the same day.') readonly to!: string;
  @Amount('The lowest balance of the day, the one carried in at 00:00 included.')
  readonly snapshotAmount!: number;
}

export class AnswerOfWallet {
  @Field.Address('In lower case.') readonly walletAddress!: string;
  @Field.Time('When the service received the request.') readonly requestedAt!: string;
  @Field.Text() readonly tokenSymbol!: string;
  @Field.Address() readonly tokenContract!: string;
  @Field.Address() readonly stakeContract!: string;

  @ApiPropertyOptional(GIVEN_CONTRACT)
  readonly contract?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'The chain of that contract; with `contract` only.',
  })
  readonly chainId?: number;
}

@ApiSchema({ name: 'Snapshots' })
export class SnapshotsAnswer extends AnswerOfWallet {
  @Amount('The sum of the snapshots’ amounts / lastDays, in token units.')
  readonly averageStakedAmount!: number;

  @ApiPropertyOptional({
    type: 'number',
    minimum: 0,
    description:
      'averageStakedAmount x exchangeRateToUSD, computed exactly; absent without a fresh price.',
  })
  readonly valueInUSD?: number;

  @ApiPropertyOptional({
    description: 'US dollars for one token; absent without a fresh price.',
    // OpenAPI 3.1 takes a number, but the decorator's type is the boolean of OpenAPI 3.0.
    exclusiveMinimum: 0 as unknown as boolean,
  })
  readonly exchangeRateToUSD?: number;

  @ApiProperty({
    type: [SnapshotAnswer],
    description: 'Exactly lastDays, oldest first.',
    minItems: 1,
    maxItems: MAX_DAYS,
  })
  readonly stakingSnapshots!: SnapshotAnswer[];
}
