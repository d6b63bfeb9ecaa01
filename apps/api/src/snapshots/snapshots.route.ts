import { Controller, Get, Inject, Query } from '@nestjs/common';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type AskedWallet } from '#libs/db';
import { accountIdText, parseAddress, windowOf } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { ApiSettings } from '../api.env.js';
import { requireCaller } from '../auth/admission.js';
import { type Caller } from '../auth/credential-cache.js';
import { sendSigned } from '../http/signed-wire.js';
import {
  bodyAt,
  freshPriceOf,
  indexHeaders,
  isoTime,
  noStake,
  renderedOf,
  requireCovered,
  requireNoFinding,
  unavailable,
} from './snapshot-answer.js';
import { type IndexedWallet } from './snapshot-reader.js';
import { SnapshotsContract } from './snapshots.contract.js';
import { askedWindow, parseSnapshotQuery, SnapshotQuery } from './snapshots.dto.js';
import { StakeSets } from './stake-sets.js';

interface SnapshotExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
}

/**
 * `GET /api/staking/snapshots`: an answer from one state of the index, read after the request arrived, or none. See
 * `docs/wire/snapshots.md`.
 *
 * Registered with Fastify directly, because nearly all requests come to this route, and Nest's layers cost as much CPU
 * as making the answer (docs/decisions/0004). The decorators only serve to write the contract; `register` adds the
 * route.
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

  /** Sends the look-up in Redis together with that of the rate limiter, in one round trip. */
  private readonly prepare = (
    { query }: FastifyRequest,
    { stakeSet }: Caller,
  ): Promise<void> | undefined => {
    const { walletAddress: text, contract, endDay: day } = query as Record<string, unknown>;
    const wallet = typeof text === 'string' ? parseAddress(text) : undefined;
    // A contract's stake set has to be found first, and windows of the past are not cached.
    if (wallet === undefined || contract !== undefined || day !== undefined) return undefined;
    const { endDay } = windowOf(this.clock.nowMs(), 1);
    return this.stakeSets.readerOf(stakeSet).fetchShared({ wallet, endDay });
  };

  /**
   * @throws HttpProblem 400 or 409 (endDay), 404 (the wallet never staked, the contract is not indexed), 503 (the index
   * does not cover the window); errors of the database
   */
  @Get()
  @SnapshotsContract
  async read(
    @Query() query: SnapshotQuery,
    { request, reply, caller }: SnapshotExchange,
  ): Promise<void> {
    const requestedAtMs = this.clock.nowMs();
    const requestedAt = isoTime(requestedAtMs);
    const { walletAddress: wallet, contract } = query;
    const window = askedWindow(query, requestedAtMs);
    const asked = { wallet, endDay: window.endDay };
    const found =
      contract === undefined && query.endDay === undefined
        ? await this.stakeSets.readerOf(caller.stakeSet).read(asked, request.prepared)
        : await this.readChosen(query, asked, caller);
    if (found === undefined) throw unavailable('not-synced');
    const { state, part } = found;
    requireCovered(state, window, requestedAtMs, this.settings);
    requireNoFinding(state, [wallet]);
    const usd = freshPriceOf(state, requestedAtMs, this.settings);
    const account = contract && accountIdText(contract);
    const rendered = renderedOf(part, { wallet, window, state, usd, contract: account });
    if (rendered === undefined) throw noStake(wallet, { contract, requestedAt });
    const body = bodyAt(rendered.body, requestedAt);
    sendSigned({ request, reply }, body, indexHeaders(state, window));
  }

  /**
   * @returns undefined where there is no index yet, or the stake set is being indexed for another contract
   * @throws HttpProblem 404 (the contract is not indexed)
   */
  private async readChosen(
    { contract, endDay }: SnapshotQuery,
    asked: AskedWallet,
    { stakeSet: ownSet }: Caller,
  ): Promise<IndexedWallet | undefined> {
    const { reader, holds } = await this.stakeSets.readerFor(contract, ownSet);
    const found =
      endDay === undefined ? await reader.read(asked) : await reader.readUncached(asked);
    return found !== undefined && holds(found.state) ? found : undefined;
  }
}
