import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { type AccountId, parseDay } from '#libs/domain';
import { Field } from '#libs/openapi';
import { badParameter } from '../http/parameter.js';
import { contractFrom, GIVEN_CONTRACT } from '../snapshots/snapshots.dto.js';

const DEFAULT_LIMIT = 31;
const MAX_LIMIT = 366;
const LIMIT = /^[1-9]\d{0,2}$/;

type Query = Readonly<Record<string, unknown>>;

export interface DaysQuery {
  /** The page holds only days before this one, in days since 1970-01-01 UTC. Undefined: the newest days. */
  readonly before: number | undefined;
  readonly limit: number;
  readonly contract: AccountId | undefined;
}

/** @throws HttpProblem 400 */
export function parseDaysQuery({
  before,
  limit = String(DEFAULT_LIMIT),
  ...rest
}: Query): DaysQuery {
  if (typeof limit !== 'string' || !LIMIT.test(limit) || Number(limit) > MAX_LIMIT) {
    throw badParameter('limit', limit, `a whole number from 1 to ${MAX_LIMIT} in plain digits`);
  }
  const day = before === undefined ? undefined : requireDay('before', before);
  return { before: day, limit: Number(limit), contract: contractFrom(rest['contract']) };
}

/**
 * @returns days since 1970-01-01 UTC
 * @throws HttpProblem 400
 */
export function requireDay(name: string, text: unknown): number {
  const day = typeof text === 'string' ? parseDay(text) : undefined;
  if (day !== undefined) return day;
  throw badParameter(name, text, 'a day of the calendar from 1970 on, such as 2026-11-21');
}

const REVISION = /^[1-9]\d{0,8}$/;

/**
 * @returns undefined where no revision is given, which means the newest
 * @throws HttpProblem 400
 */
export function revisionFrom(text: unknown): number | undefined {
  if (text === undefined) return undefined;
  if (typeof text === 'string' && REVISION.test(text)) return Number(text);
  throw badParameter('revision', text, 'a whole number from 1 on in plain digits');
}

const HASH = { type: 'string', pattern: '^0x[0-9a-f]{64}$' } as const;
const Hash = Field.field(HASH);
const Units = Field.field({
  type: 'string',
  pattern: '^(0|[1-9][0-9]*)$',
  description: 'In the smallest unit of the token.',
});

@ApiSchema({ name: 'SealedDay' })
export class SealedDayAnswer {
  @Field.Day() readonly day!: string;
  @Field.Positive('Grows if a sealed day came out differently later; the newest counts.')
  readonly revision!: number;
  @Hash('Of the Merkle tree over (wallet, low, next).') readonly root!: string;
  @ApiPropertyOptional({ ...HASH, description: 'Of the revision before this one.' })
  readonly previousRoot?: string;
  @Field.Count('Wallets with a low-water mark above zero.') readonly wallets!: number;
  @Units('The sum of their lows, in the smallest unit of the token.') readonly total!: string;
  @Field.Count('The last block of the day.') readonly blockNumber!: number;
  @Hash() readonly blockHash!: string;
  @Field.Text('The version of the software that sealed it.') readonly software!: string;
  @Field.Time() readonly sealedAt!: string;
}

class SealedOf {
  @Field.Time('When the service received the request.') readonly requestedAt!: string;
  @Field.Address('The staking contract; of several the first.') readonly stakeContract!: string;
  @Field.ChainId() readonly chainId!: number;

  @ApiProperty({ type: 'integer', minimum: 0, maximum: 255 })
  readonly tokenDecimals!: number;

  @ApiPropertyOptional({
    type: 'string',
    pattern: GIVEN_CONTRACT.pattern,
    description: GIVEN_CONTRACT.description,
  })
  readonly contract?: string;
}

@ApiSchema({ name: 'SealedDays' })
export class SealedDaysAnswer extends SealedOf {
  @Field.ListOf(SealedDayAnswer, 'The newest first.') readonly days!: SealedDayAnswer[];

  @ApiPropertyOptional({
    ...Field.DAY,
    description: '`before` of the request; absent if it had none.',
  })
  readonly before?: string;

  @ApiPropertyOptional({
    ...Field.DAY,
    description: 'For `before` of the next page; absent on the last one.',
  })
  readonly next?: string;
}

@ApiSchema({ name: 'SealedDayOfSet' })
export class SealedDayOfSetAnswer extends SealedOf {
  @Field.Nested(SealedDayAnswer) readonly day!: SealedDayAnswer;
}

@ApiSchema({ name: 'DayLeaf' })
export class DayLeafAnswer {
  @Field.Address() readonly wallet!: string;
  @Units() readonly low!: string;
  @Field.Address('The wallet of the following leaf in ascending order.') readonly next!: string;
}

@ApiSchema({ name: 'DayProof' })
export class DayProofAnswer extends SealedDayOfSetAnswer {
  @Field.Address('In lower case.') readonly walletAddress!: string;
  @Units(
    'What the wallet kept staked all through the day, in the smallest unit of the token; 0 if it has no leaf.',
  )
  readonly low!: string;
  @Field.Nested(
    DayLeafAnswer,
    'The wallet’s own, or the one whose wallet is below it and whose next is above it.',
  )
  readonly leaf!: DayLeafAnswer;
  @ApiProperty({
    type: 'array',
    items: HASH,
    description: 'The nodes beside the way from the leaf to the root.',
  })
  readonly proof!: readonly string[];
}
