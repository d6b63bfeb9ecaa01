import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { type AuditRun, AuditRunStore, IndexStore, type IndexState } from '#libs/db';
import { Answers, Fails, FailsAnywhere } from '#libs/openapi';
import { tokensText } from '#libs/operations';
import { ForOperators } from '../../auth/audience.js';
import {
  ADDRESS,
  BLOCK_OR_NULL,
  COUNT_OR_NULL,
  DECIMAL,
  DECIMAL_OR_NULL,
  NEXT,
  PAGE_SIZE,
  StakeSetParameter,
  TEXT_OR_NULL,
  TIME,
} from '../schema.js';
import { StakeSets } from '../stake-sets.js';

class AuditsQuery {
  @StakeSetParameter()
  readonly stakeSet?: string;

  @ApiPropertyOptional({ type: 'string', description: '`next` of the page before.' })
  @IsOptional()
  @Matches(/^\d{1,18}$/, { message: '$property must be `next` of the page before.' })
  readonly after?: string;
}

@ApiSchema({ name: 'AuditDifference' })
class AuditDifferenceBody {
  @ApiProperty(ADDRESS)
  readonly wallet!: string;

  @ApiProperty(DECIMAL)
  readonly indexed!: string;

  @ApiProperty(DECIMAL)
  readonly contract!: string;
}

const RESULTS = ['ok', 'different', 'impossible'] as const;

@ApiSchema({
  name: 'AuditRun',
  description: 'One that was impossible has a reason, and no figures.',
})
class AuditRunBody {
  @ApiProperty(TIME)
  readonly startedAt!: string;

  @ApiProperty(TIME)
  readonly finishedAt!: string;

  @ApiProperty({ enum: RESULTS })
  readonly result!: (typeof RESULTS)[number];

  @ApiProperty(TEXT_OR_NULL)
  readonly reason!: string | null;

  @ApiProperty(BLOCK_OR_NULL)
  readonly block!: string | null;

  @ApiProperty({ ...COUNT_OR_NULL, description: 'In the index.' })
  readonly wallets!: number | null;

  @ApiProperty({ ...COUNT_OR_NULL, description: 'With the contract.' })
  readonly compared!: number | null;

  @ApiProperty({ ...COUNT_OR_NULL, description: 'Wallets that differ.' })
  readonly differences!: number | null;

  @ApiProperty({ type: [AuditDifferenceBody], description: 'The first of them.' })
  readonly different!: AuditDifferenceBody[];

  @ApiProperty(DECIMAL_OR_NULL)
  readonly indexedTotal!: string | null;

  @ApiProperty(DECIMAL_OR_NULL)
  readonly contractTotal!: string | null;
}

@ApiSchema({ name: 'AuditRuns' })
class AuditRunsBody {
  @ApiProperty(TEXT_OR_NULL)
  readonly tokenSymbol!: string | null;

  @ApiProperty({ type: [AuditRunBody] })
  readonly items!: AuditRunBody[];

  @ApiProperty(NEXT)
  readonly next!: string | null;
}

/** The audits that the indexer makes each night. */
@Controller('api/operate/audits')
@ForOperators('viewer')
@FailsAnywhere()
export class AuditsController {
  constructor(private readonly sets: StakeSets) {}

  @Get()
  @ApiOperation({
    summary: 'The comparisons of the index with the contract',
    description: 'Newest first; they are kept for a year.',
  })
  @Answers(200, 'A page of them.', AuditRunsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'No such stake set.', 'STAKE_SET_UNKNOWN')
  async list(@Query() { stakeSet, after }: AuditsQuery): Promise<AuditRunsBody> {
    const database = await this.sets.open(stakeSet);
    const [state, runs] = await Promise.all([
      new IndexStore(database).state(),
      new AuditRunStore(database).list({ limit: PAGE_SIZE, after }),
    ]);
    return {
      tokenSymbol: state?.tokenSymbol ?? null,
      items: runs.entries.map((run) => runBody(run, state)),
      next: runs.next ?? null,
    };
  }
}

function runBody(run: AuditRun, state: IndexState | undefined): AuditRunBody {
  const tokenDecimals = state?.tokenDecimals ?? 0;
  const tokens = (tokenAmount: bigint): string => tokensText({ tokenAmount, tokenDecimals });
  const head = {
    startedAt: run.startedAt.toISOString(),
    finishedAt: run.finishedAt.toISOString(),
    result: run.result,
  };
  if (run.result === 'impossible') {
    const none = { block: null, wallets: null, compared: null, differences: null };
    const { reason } = run;
    return { ...head, ...none, reason, different: [], indexedTotal: null, contractTotal: null };
  }
  const { blockNumber, wallets, compared, differences, indexedTotal, contractTotal } = run;
  return {
    ...head,
    reason: null,
    block: blockNumber.toString(),
    wallets,
    compared: compared ?? null,
    differences,
    different: run.different.map(({ wallet, indexed, contract }) => ({
      wallet,
      indexed: tokens(indexed),
      contract: tokens(contract),
    })),
    indexedTotal: tokens(indexedTotal),
    contractTotal: contractTotal === undefined ? null : tokens(contractTotal),
  };
}
