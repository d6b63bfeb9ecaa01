import { Controller, Get, Query } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { type AuditRun, AuditRunStore, IndexStore, type IndexState } from '#libs/db';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { tokensText } from '#libs/operations';
import { ForOperators } from '../../auth/audience.js';
import { AfterNumber, PAGE_SIZE, StakeSetParameter } from '../schema.js';
import { StakeSets } from '../stake-sets.js';

class AuditsQuery {
  @StakeSetParameter() readonly stakeSet?: string;
  @AfterNumber() readonly after?: string;
}

@ApiSchema({ name: 'AuditDifference' })
class AuditDifferenceBody {
  @Field.Address() readonly wallet!: string;
  @Field.Decimal() readonly indexed!: string;
  @Field.Decimal() readonly contract!: string;
}

const RESULTS = ['ok', 'different', 'impossible'] as const;

@ApiSchema({
  name: 'AuditRun',
  description: 'One that was impossible has a reason, and no figures.',
})
class AuditRunBody {
  @Field.Time() readonly startedAt!: Date;
  @Field.Time() readonly finishedAt!: Date;
  @Field.OneOf(RESULTS) readonly result!: (typeof RESULTS)[number];
  @Field.TextOrNull() readonly reason!: string | null;
  @Field.DigitsOrNull() readonly block!: string | null;
  @Field.CountOrNull('In the index.') readonly wallets!: number | null;
  @Field.CountOrNull('With the contract.') readonly compared!: number | null;
  @Field.CountOrNull('Wallets that differ.') readonly differences!: number | null;
  @Field.ListOf(AuditDifferenceBody, 'The first of them.')
  readonly different!: AuditDifferenceBody[];
  @Field.DecimalOrNull() readonly indexedTotal!: string | null;
  @Field.DecimalOrNull() readonly contractTotal!: string | null;
}

@ApiSchema({ name: 'AuditRuns' })
class AuditRunsBody {
  @Field.TextOrNull() readonly tokenSymbol!: string | null;
  @Field.ListOf(AuditRunBody) readonly items!: AuditRunBody[];
  @Field.Next() readonly next!: string | null;
}

@Controller('api/operate/audits')
@ForOperators('viewer')
export class AuditsController {
  constructor(private readonly sets: StakeSets) {}

  @Get()
  @Operation(
    'The comparisons of the index with the contract',
    'Newest first; they are kept for a year.',
  )
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
  const { startedAt, finishedAt, result } = run;
  const head = { startedAt, finishedAt, result };
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
