import { type Clock } from '#libs/platform';
import { coverage, type CoverageGap, type Decimal, parseDecimal, windowOf } from '#libs/domain';
import { type Price, type SnapshotRead, type SnapshotStore } from '#libs/db';
import { ApiError } from '../http/errors/api.error.js';
import { snapshotBody } from './snapshot-body.js';
import { snapshotOf } from './snapshot.js';
import { type SnapshotQuery } from './snapshot-query.pipe.js';

export interface SnapshotsOptions {
  readonly indexMaxLagSeconds: number;
  readonly priceMaxAgeSeconds: number;
}

export interface SnapshotAnswer {
  /** Canonical JSON. */
  readonly body: string;
  /** The newest block the answer takes into account. */
  readonly indexBlock: bigint;
  /** Whether no reorganisation can change it any more: the finalised block is at or past the end of the window. */
  readonly final: boolean;
}

const GAPS: Readonly<Record<CoverageGap, { message: string; retryAfterSeconds: number }>> = {
  'not-synced': {
    message: 'The index of staked balances is not complete yet: try again later.',
    retryAfterSeconds: 30,
  },
  lagging: {
    message: 'The index of staked balances is behind the chain: try again shortly.',
    retryAfterSeconds: 5,
  },
  halted: {
    message: 'The index of staked balances has stopped and is being looked after.',
    retryAfterSeconds: 60,
  },
};

/** Answers from one consistent read of the index, or not at all: never a wrong snapshot. */
export class SnapshotsService {
  constructor(
    private readonly store: SnapshotStore,
    private readonly clock: Clock,
    private readonly options: SnapshotsOptions,
  ) {}

  /** @throws ApiError 404 (the wallet never staked), 503 (the index does not cover the window), errors of the database */
  async read({ wallet, lastDays }: SnapshotQuery): Promise<SnapshotAnswer> {
    const requestedAtMs = this.clock.nowMs();
    const window = windowOf(requestedAtMs, lastDays);
    const read = await this.store.read(wallet, window.endDay, lastDays);
    if (read === undefined) throw unavailable('not-synced');
    const { index } = read;
    const progress = {
      headSeconds: index.head.timestampSeconds,
      syncedAt: index.syncedAt,
      haltedReason: index.halted?.reason,
    };
    const covered = coverage(progress, window, requestedAtMs, this.options.indexMaxLagSeconds);
    if (covered !== 'covered') throw unavailable(covered.reason);
    if (!read.hasHistory) throw new ApiError(404, `No staking data for wallet ${wallet}`);
    const rate = this.rateOf(read, requestedAtMs);
    return {
      body: snapshotBody(snapshotOf({ wallet, requestedAtMs, window }, read, rate)),
      indexBlock: index.head.number,
      final: (index.finalised?.timestampSeconds ?? -Infinity) >= window.endSeconds,
    };
  }

  private rateOf({ price }: Pick<SnapshotRead, 'price'>, nowMs: number): Decimal | undefined {
    return price !== undefined && this.isFresh(price, nowMs) ? parseDecimal(price.usd) : undefined;
  }

  private isFresh({ observedAt }: Price, nowMs: number): boolean {
    return nowMs - observedAt.getTime() <= this.options.priceMaxAgeSeconds * 1000;
  }
}

function unavailable(gap: CoverageGap): ApiError {
  const { message, retryAfterSeconds } = GAPS[gap];
  return ApiError.unavailable(message, retryAfterSeconds);
}
