import { Controller, Get, Inject, Query } from '@nestjs/common';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type AskedWallet, type SnapshotState } from '#libs/db';
import {
  type AccountId,
  accountIdText,
  coverage,
  type CoverageGap,
  type DayWindow,
  parseAddress,
  windowOf,
} from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { ApiSettings } from '../api.env.js';
import { type Caller } from '../auth/admission.js';
import { requireCaller } from '../auth/api-key.guard.js';
import { sendSigned } from '../http/signed-wire.js';
import { bodyAt, isSame, render, type RenderedSnapshot, type Rendering } from './snapshot-body.js';
import { type IndexedWallet, type WalletPart } from './snapshot-reader.js';
import { SnapshotsContract } from './snapshots.contract.js';
import { parseSnapshotQuery, SnapshotQuery } from './snapshots.dto.js';
import { isOfSet, StakeSets } from './stake-sets.js';

const GAPS: Readonly<Record<CoverageGap, readonly [retryAfterSeconds: number, message: string]>> = {
  'not-synced': [30, 'The index of staked balances is not complete yet: try again later.'],
  lagging: [5, 'The index of staked balances is behind the chain: try again shortly.'],
  halted: [60, 'The index of staked balances has stopped and is being looked after.'],
};

interface SnapshotExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
}

/**
 * `GET /api/staking/snapshots`: an answer from one state of the index as it was after the request arrived, or none. See
 * `docs/wire/snapshots.md`.
 *
 * A route of Fastify itself, since it is nearly all that the service does and Nest's layers cost as much CPU as making the answer
 * (docs/decisions/0004): the decorators are what the contract is written from, `register` is what serves it.
 */
@Controller('api/staking/snapshots')
export class SnapshotsRoute {
  constructor(
    private readonly stakeSets: StakeSets,
    private readonly settings: ApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  register(fastify: FastifyInstance): void {
    fastify.get(
      '/api/staking/snapshots',
      { config: { prepare: this.prepare } },
      (request, reply) => {
        const caller = requireCaller(request.admission);
        const query = parseSnapshotQuery(request.query as Record<string, unknown>);
        return this.read(query, { request, reply, caller });
      },
    );
  }

  /** The look into Redis goes out with the limiter's own: one round trip for both. */
  private readonly prepare = (
    { query }: FastifyRequest,
    { stakeSet }: Caller,
  ): Promise<void> | undefined => {
    const { walletAddress: text, contract } = query as Record<string, unknown>;
    const wallet = typeof text === 'string' ? parseAddress(text) : undefined;
    // Of a contract the set has to be found first.
    if (wallet === undefined || contract !== undefined) return undefined;
    const { endDay } = windowOf(this.clock.nowMs(), 1);
    return this.stakeSets.readerOf(stakeSet).fetchShared({ wallet, endDay });
  };

  /** @throws HttpProblem 404 (the wallet never staked, the contract is not indexed), 503 (the index does not cover the window), errors of the database */
  @Get()
  @SnapshotsContract()
  async read(
    @Query() query: SnapshotQuery,
    { request, reply, caller }: SnapshotExchange,
  ): Promise<void> {
    const requestedAtMs = this.clock.nowMs();
    const { walletAddress: wallet, lastDays } = query;
    const window = windowOf(requestedAtMs, lastDays);
    const asked = { wallet, endDay: window.endDay };
    const found =
      query.contract === undefined
        ? await this.stakeSets.readerOf(caller.stakeSet).read(asked, request.prepared)
        : await this.readContract(query.contract, asked, caller);
    if (found === undefined) throw unavailable('not-synced');
    const { state } = found;
    this.requireCovered(state, window, requestedAtMs);
    const usd = this.freshPriceOf(state, requestedAtMs);
    const contract = query.contract && accountIdText(query.contract);
    const { body } = renderedOf(found.part, { wallet, window, state, usd, contract });
    const isFinal = (state.finalisedSeconds ?? -Infinity) >= window.endSeconds;
    const headers = [
      'x-index-block',
      state.head.number.toString(),
      'x-index-final',
      String(isFinal),
    ];
    sendSigned({ request, reply }, bodyAt(body, requestedAtMs), headers);
  }

  /** Undefined where the set is being indexed anew for another contract. @throws HttpProblem 404 (the contract is not indexed) */
  private async readContract(
    contract: AccountId,
    asked: AskedWallet,
    { stakeSet: ownSet }: Caller,
  ): Promise<IndexedWallet | undefined> {
    const set = await this.stakeSets.find(contract, ownSet);
    if (set === undefined) {
      const message = `Stakes in ${accountIdText(contract)} are not indexed here.`;
      throw new HttpProblem(404, message, { code: 'CONTRACT_NOT_FOUND' });
    }
    const found = await this.stakeSets.readerOf(set.name).read(asked);
    return found !== undefined && isOfSet(found.state, set) ? found : undefined;
  }

  private requireCovered(state: SnapshotState, window: DayWindow, nowMs: number): void {
    const progress = {
      headSeconds: state.head.timestampSeconds,
      syncedAt: state.syncedAt,
      haltedReason: state.haltedReason,
    };
    const covered = coverage(progress, window, nowMs, this.settings.indexMaxLagSeconds);
    if (covered !== 'covered') throw unavailable(covered.reason);
  }

  private freshPriceOf({ price }: SnapshotState, nowMs: number): string | undefined {
    if (price === undefined) return undefined;
    const ageMs = nowMs - price.observedAt.getTime();
    return ageMs <= this.settings.priceMaxAgeSeconds * 1000 ? price.usd : undefined;
  }
}

/** The answer that was made of the part before, where nothing else differs. */
function renderedOf(part: WalletPart, rendering: Rendering): RenderedSnapshot {
  const { rendered, daysText } = part;
  if (daysText === undefined) {
    const { wallet, contract } = rendering;
    const of = contract === undefined ? '' : ` in ${contract}`;
    throw new HttpProblem(404, `No staking data for wallet ${wallet}${of}`);
  }
  if (rendered !== undefined && isSame(rendered, rendering)) return rendered;
  return (part.rendered = render(daysText, rendering));
}

function unavailable(gap: CoverageGap): HttpProblem {
  const [retryAfterSeconds, message] = GAPS[gap];
  return new HttpProblem(503, message, { retryAfterSeconds });
}
