import { Controller, Get, Inject, Query } from '@nestjs/common';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type SnapshotState } from '#libs/db';
import { coverage, type CoverageGap, type DayWindow, parseAddress, windowOf } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { ApiSettings } from '../api.env.js';
import { requireCaller } from '../auth/api-key.guard.js';
import { sendSigned } from '../http/signed-wire.js';
import { bodyAt, isSame, render, type RenderedSnapshot, type Rendering } from './snapshot-body.js';
import { SnapshotReader, type WalletPart } from './snapshot-reader.js';
import { SnapshotsContract } from './snapshots.contract.js';
import { parseSnapshotQuery, SnapshotQuery } from './snapshots.dto.js';

const GAPS: Readonly<Record<CoverageGap, readonly [retryAfterSeconds: number, message: string]>> = {
  'not-synced': [30, 'The index of staked balances is not complete yet: try again later.'],
  lagging: [5, 'The index of staked balances is behind the chain: try again shortly.'],
  halted: [60, 'The index of staked balances has stopped and is being looked after.'],
};

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
    private readonly reader: SnapshotReader,
    private readonly settings: ApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  register(fastify: FastifyInstance): void {
    fastify.get(
      '/api/staking/snapshots',
      { config: { prepare: this.prepare } },
      (request, reply) => {
        requireCaller(request.admission);
        const query = parseSnapshotQuery(request.query as Record<string, unknown>);
        return this.read(query, request, reply);
      },
    );
  }

  /** The look into Redis goes out with the limiter's own: one round trip for both. */
  private readonly prepare = ({ query }: FastifyRequest): Promise<void> | undefined => {
    const { walletAddress: text } = query as Record<string, unknown>;
    const wallet = typeof text === 'string' ? parseAddress(text) : undefined;
    if (wallet === undefined) return undefined;
    return this.reader.fetchShared({ wallet, endDay: windowOf(this.clock.nowMs(), 1).endDay });
  };

  /** @throws HttpProblem 404 (the wallet never staked), 503 (the index does not cover the window), errors of the database */
  @Get()
  @SnapshotsContract()
  async read(
    @Query() query: SnapshotQuery,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const requestedAtMs = this.clock.nowMs();
    const { walletAddress: wallet, lastDays } = query;
    const window = windowOf(requestedAtMs, lastDays);
    const found =
      (await this.reader.read({ wallet, endDay: window.endDay }, request.prepared)) ?? notSynced();
    const { state } = found;
    this.requireCovered(state, window, requestedAtMs);
    const usd = this.freshPriceOf(state, requestedAtMs);
    const { body } = renderedOf(found.part, { wallet, window, state, usd });
    const isFinal = (state.finalisedSeconds ?? -Infinity) >= window.endSeconds;
    const headers = [
      'x-index-block',
      state.head.number.toString(),
      'x-index-final',
      String(isFinal),
    ];
    sendSigned({ request, reply }, bodyAt(body, requestedAtMs), headers);
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
    throw new HttpProblem(404, `No staking data for wallet ${rendering.wallet}`);
  }
  if (rendered !== undefined && isSame(rendered, rendering)) return rendered;
  return (part.rendered = render(daysText, rendering));
}

function notSynced(): never {
  throw unavailable('not-synced');
}

function unavailable(gap: CoverageGap): HttpProblem {
  const [retryAfterSeconds, message] = GAPS[gap];
  return new HttpProblem(503, message, { retryAfterSeconds });
}
