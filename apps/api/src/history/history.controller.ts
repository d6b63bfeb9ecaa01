import {
  Controller,
  Get,
  Inject,
  type PipeTransform,
  Query,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type BalanceMoment, type SnapshotState } from '#libs/db';
import { accountIdText, tokensToNumber } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { ApiSettings } from '../api.env.js';
import { ApiKeyGuard, requireCaller } from '../auth/admission.js';
import {
  isoTime,
  noStake,
  requireCovered,
  requireNoFinding,
  unavailable,
} from '../snapshots/snapshot-answer.js';
import { StakeSets } from '../snapshots/stake-sets.js';
import { HistoryContract } from './history.contract.js';
import {
  type HistoryAnswer,
  HistoryQuery,
  type IntervalAnswer,
  parseHistoryQuery,
} from './history.dto.js';

const HISTORY_QUERY: PipeTransform<Readonly<Record<string, unknown>>, HistoryQuery> = {
  transform: parseHistoryQuery,
};

/** `after` is exclusive, and block numbers begin with 0. */
const BEFORE_ALL = -1n;

/**
 * `GET /api/staking/history`: a wallet's stake from its first one on, in pages. Each page comes from one state of the
 * index. See `docs/wire/history.md`.
 */
@Controller('api/staking/history')
@UseGuards(ApiKeyGuard)
export class HistoryController {
  constructor(
    private readonly stakeSets: StakeSets,
    private readonly settings: ApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @throws HttpProblem 400, 404 (the wallet never staked, the contract is not indexed), 503 (the index is behind);
   * errors of the database
   */
  @Get()
  @HistoryContract
  async read(
    @Query(HISTORY_QUERY) query: HistoryQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HistoryAnswer> {
    const { walletAddress: wallet, after, limit, contract } = query;
    const nowMs = this.clock.nowMs();
    const requestedAt = isoTime(nowMs);
    const { stakeSet } = requireCaller(request.admission);
    const { reader, holds } = await this.stakeSets.readerFor(contract, stakeSet);
    // Reads one change more than the page holds, as the end of the last interval.
    const found = await reader.readHistory({
      wallet,
      after: after ?? BEFORE_ALL,
      limit: limit + 1,
    });
    if (found === undefined || !holds(found.state)) throw unavailable('not-synced');
    const { state, changes } = found;
    requireCovered(state, { endSeconds: nowMs / 1000 }, nowMs, this.settings);
    requireNoFinding(state, [wallet]);
    if (changes === undefined) throw noStake(wallet, { contract, requestedAt });
    void reply.header('x-index-block', state.head.number.toString());
    const { tokenSymbol, tokenContract, stakeContract, chainId } = state;
    const intervals = intervalsOf(changes, state).slice(0, limit);
    const next = changes.length > limit ? intervals.at(-1)?.fromBlock : undefined;
    return {
      ...{ walletAddress: wallet, requestedAt },
      ...{ tokenSymbol, tokenContract, stakeContract, intervals },
      ...(contract && { contract: accountIdText(contract), chainId }),
      ...(after !== undefined && { after: Number(after) }),
      ...(next !== undefined && { next }),
    };
  }
}

function intervalsOf(
  changes: readonly BalanceMoment[],
  { tokenDecimals }: SnapshotState,
): IntervalAnswer[] {
  return changes.map(({ block, seconds, balance }, place) => {
    const end = changes[place + 1];
    return {
      fromBlock: Number(block),
      from: isoTime(seconds * 1000),
      ...(end && { toBlock: Number(end.block), to: isoTime(end.seconds * 1000) }),
      stakedAmount: tokensToNumber(balance, tokenDecimals),
    };
  });
}
