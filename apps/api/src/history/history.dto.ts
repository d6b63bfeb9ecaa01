import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { type AccountId, type Address } from '#libs/domain';
import { Field } from '#libs/openapi';
import { badParameter } from '../http/parameter.js';
import {
  AnswerOfWallet,
  ASKED_CONTRACT,
  ASKED_WALLET,
  contractFrom,
  walletFrom,
} from '../snapshots/snapshots.dto.js';

const MAX_INTERVALS = 1000;
const DEFAULT_INTERVALS = 100;
const WHOLE = /^(?:0|[1-9]\d{0,14})$/;

export class HistoryQuery {
  @ApiProperty(ASKED_WALLET)
  readonly walletAddress!: Address;

  @ApiPropertyOptional({
    type: 'integer',
    description: '`next` of the page before; given at most once. Without it the first page.',
    minimum: 0,
  })
  readonly after?: bigint | undefined;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'How many intervals at most; given at most once.',
    minimum: 1,
    maximum: MAX_INTERVALS,
    default: DEFAULT_INTERVALS,
  })
  readonly limit!: number;

  @ApiPropertyOptional(ASKED_CONTRACT)
  readonly contract?: AccountId | undefined;
}

/**
 * Parses the query; unknown parameters are ignored.
 * @throws HttpProblem 400
 */
export function parseHistoryQuery(query: Readonly<Record<string, unknown>>): HistoryQuery {
  const { walletAddress, after, limit = String(DEFAULT_INTERVALS), contract } = query;
  const wallet = walletFrom(walletAddress);
  if (after !== undefined && !(typeof after === 'string' && WHOLE.test(after))) {
    throw badParameter('after', after, 'a whole number: next of the page before');
  }
  const most = typeof limit === 'string' && WHOLE.test(limit) ? Number(limit) : 0;
  if (most < 1 || most > MAX_INTERVALS) {
    throw badParameter('limit', limit, `a whole number from 1 to ${MAX_INTERVALS} in plain digits`);
  }
  return {
    walletAddress: wallet,
    after: after === undefined ? undefined : BigInt(after),
    limit: most,
    contract: contractFrom(contract),
  };
}

const BLOCK = { type: 'integer', minimum: 0 } as const;

@ApiSchema({ name: 'Interval' })
export class IntervalAnswer {
  @Field.Count('The block at whose end the balance began.') readonly fromBlock!: number;
  @Field.Time('The time of that block.') readonly from!: string;

  @ApiPropertyOptional({
    ...BLOCK,
    description: 'The block that changed the balance; absent for the one that stands.',
  })
  readonly toBlock?: number;

  @ApiPropertyOptional({ ...Field.TIME, description: 'The time of that block, exclusive.' })
  readonly to?: string;

  @ApiProperty({ type: 'number', minimum: 0, description: 'In token units.' })
  readonly stakedAmount!: number;
}

@ApiSchema({ name: 'History' })
export class HistoryAnswer extends AnswerOfWallet {
  @ApiPropertyOptional({
    ...BLOCK,
    description: '`after` of the request; absent if it had none.',
  })
  readonly after?: number;

  @ApiProperty({
    type: [IntervalAnswer],
    description: 'Oldest first; none if nothing follows `after`.',
    maxItems: MAX_INTERVALS,
  })
  readonly intervals!: IntervalAnswer[];

  @ApiPropertyOptional({
    ...BLOCK,
    description: '`after` of the next page; absent if there is none.',
  })
  readonly next?: number;
}
