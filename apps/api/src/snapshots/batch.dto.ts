import { ApiProperty, ApiPropertyOptional, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { type AccountId, type Address, parseAddress } from '#libs/domain';
import { Field } from '#libs/openapi';
import { HttpProblem } from '#libs/service';
import { ErrorAnswer } from '../http/contract.js';
import {
  ASKED_CONTRACT,
  contractFrom,
  DEFAULT_DAYS,
  endDayFrom,
  GIVEN_CONTRACT,
  MAX_DAYS,
  SnapshotsAnswer,
} from './snapshots.dto.js';

export const MAX_BATCH = 1000;
/** Largest body in bytes: room for the largest batch with each wallet on an indented line of its own. */
export const MAX_BATCH_BYTES = 64 * 1024;

@ApiSchema({ name: 'SnapshotsBatchRequest' })
export class BatchRequest {
  @ApiProperty({
    description:
      'Each 0x and 40 hex digits in any case. A wallet that comes several times is answered once, at its first place.',
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: MAX_BATCH,
    example: ['0x52908400098527886e0f7030069857d2e4169ee7'],
  })
  readonly walletAddresses!: readonly unknown[];

  @ApiPropertyOptional({
    type: 'integer',
    description: 'A JSON number, without quotes.',
    minimum: 1,
    maximum: MAX_DAYS,
    default: DEFAULT_DAYS,
  })
  readonly lastDays?: number;

  @ApiPropertyOptional({
    description:
      'The last day of the window, UTC, of the past. Without it the day before the request.',
    type: String,
    format: 'date',
    example: '2026-11-20',
  })
  readonly endDay?: string;

  @ApiPropertyOptional({
    ...ASKED_CONTRACT,
    description: 'As the parameter `contract`; for all wallets.',
  })
  readonly contract?: string;
}

export interface BatchEntry {
  /** Position in the list, from 0 on. */
  readonly index: number;
  /** Undefined where the entry is not an address. */
  readonly wallet: Address | undefined;
}

export interface Batch {
  /** Number of entries in the request. */
  readonly size: number;
  /** In the order of the request, each wallet once. */
  readonly entries: readonly BatchEntry[];
  readonly lastDays: number;
  /** Last day of the window, in days since 1970-01-01 UTC. */
  readonly endDay: number | undefined;
  readonly contract: AccountId | undefined;
}

/**
 * Checks a body. Unknown fields are ignored. An entry that is not an address does not fail the batch.
 * @param most number of wallets that the caller may request at once
 * @throws HttpProblem 400
 */
export function parseBatch(body: unknown, most: number): Batch {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new HttpProblem(400, 'The body must be a JSON object with walletAddresses.');
  }
  const { walletAddresses, lastDays = DEFAULT_DAYS, endDay, contract } = body as BatchRequest;
  if (!Array.isArray(walletAddresses) || walletAddresses.length === 0) {
    throw new HttpProblem(400, `walletAddresses must be a list of 1 to ${MAX_BATCH} wallets.`);
  }
  const size = walletAddresses.length;
  requireSize(size, most);
  if (!Number.isInteger(lastDays) || lastDays < 1 || lastDays > MAX_DAYS) {
    const form = typeof lastDays === 'string' ? 'a JSON number, without quotes: ' : '';
    throw new HttpProblem(400, `lastDays must be ${form}a whole number from 1 to ${MAX_DAYS}.`);
  }
  return {
    size,
    entries: entriesOf(walletAddresses),
    lastDays,
    endDay: endDayFrom(endDay),
    contract: contractFrom(contract),
  };
}

function requireSize(size: number, most: number): void {
  if (size <= Math.min(most, MAX_BATCH)) return;
  const reason =
    most < MAX_BATCH
      ? `Your limit of requests at once allows ${most} wallets in a batch`
      : `A batch has at most ${MAX_BATCH} wallets`;
  throw new HttpProblem(400, `${reason}; this one has ${size}.`, { code: 'BATCH_TOO_LARGE' });
}

function entriesOf(texts: readonly unknown[]): BatchEntry[] {
  const seen = new Set<Address>();
  const entries: BatchEntry[] = [];
  for (const [index, text] of texts.entries()) {
    const wallet = typeof text === 'string' ? parseAddress(text) : undefined;
    if (wallet !== undefined && seen.has(wallet)) continue;
    if (wallet !== undefined) seen.add(wallet);
    entries.push({ index, wallet });
  }
  return entries;
}

@ApiSchema({ name: 'SnapshotsBatchResult' })
export class BatchResult {
  @Field.Count('The place in walletAddresses, from 0 on.') readonly index!: number;

  @ApiPropertyOptional({
    type: String,
    pattern: '^0x[0-9a-f]{40}$',
    description: 'In lower case; absent with status 400.',
  })
  readonly walletAddress?: string;

  @ApiProperty({
    type: 'integer',
    enum: [200, 400, 404],
    description: '200: snapshots. 400: no address. 404: the wallet never staked.',
  })
  readonly status!: number;

  @ApiProperty({
    description:
      'What GET /api/staking/snapshots answers for this wallet: Snapshots with status 200, else an Error.',
    anyOf: [{ $ref: getSchemaPath(SnapshotsAnswer) }, { $ref: getSchemaPath(ErrorAnswer) }],
  })
  readonly body!: SnapshotsAnswer | ErrorAnswer;
}

@ApiSchema({ name: 'SnapshotsBatch' })
export class BatchAnswer {
  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the service received the request.',
  })
  readonly requestedAt!: string;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: MAX_DAYS })
  readonly lastDays!: number;

  @ApiProperty({ type: String, format: 'date', description: 'The last day of the window, UTC.' })
  readonly endDay!: string;

  @ApiPropertyOptional(GIVEN_CONTRACT)
  readonly contract?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, description: 'With `contract` only.' })
  readonly chainId?: number;

  @ApiProperty({
    type: [BatchResult],
    description: 'In the order asked; a wallet that came several times is here once.',
    minItems: 1,
    maxItems: MAX_BATCH,
  })
  readonly results!: BatchResult[];
}
