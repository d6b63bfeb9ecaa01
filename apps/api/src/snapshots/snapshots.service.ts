import { type Clock } from '#libs/platform';
import { coverage, type CoverageGap, type DayWindow, windowOf } from '#libs/domain';
import { type SnapshotState } from '#libs/db';
import { type IndexNow } from './index-now.js';
import { render } from './rendered-snapshot.js';
import { bodyAt } from './snapshot-body.js';
import { type SnapshotQuery } from './snapshot-query.js';
import { type KeptPart } from './kept-part.js';
import { type Loaded, type WalletParts } from './wallet-parts.js';
import { HttpProblem } from '#libs/service';

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

/**
 * Answers from one consistent state of the index as it was after the request arrived, or not at all: never a wrong snapshot.
 * The wallet's part may have been kept, the state is always read.
 */
export class SnapshotsService {
  constructor(
    private readonly parts: WalletParts,
    private readonly index: IndexNow,
    private readonly clock: Clock,
    private readonly options: SnapshotsOptions,
  ) {}

  /**
   * Starts looking for the wallet's part in Redis, so that it comes with what else the request asks Redis.
   * @returns undefined where there is nothing to look for
   */
  prepare(wallet: SnapshotQuery['wallet']): Promise<KeptPart | undefined> | undefined {
    const { endDay } = windowOf(this.clock.nowMs(), 1);
    return this.parts.peek(wallet, endDay) === undefined
      ? this.parts.fetch(wallet, endDay)
      : undefined;
  }

  /**
   * @param prepared from `prepare`, where it was called
   * @throws HttpProblem 404 (the wallet never staked), 503 (the index does not cover the window), errors of the database
   */
  async read(
    { wallet, lastDays }: SnapshotQuery,
    prepared?: Promise<KeptPart | undefined>,
  ): Promise<SnapshotAnswer> {
    const requestedAtMs = this.clock.nowMs();
    const window = windowOf(requestedAtMs, lastDays);
    await (prepared ?? this.prepare(wallet));
    const { state, part } = await this.load(wallet, window, requestedAtMs);
    this.requireCovered(state, window, requestedAtMs);
    if (part.daysText === undefined) {
      throw new HttpProblem(404, `No staking data for wallet ${wallet}`);
    }
    const usd = this.freshPriceOf(state, requestedAtMs);
    return {
      body: bodyAt(render(part, { wallet, lastDays, window, state, usd }), requestedAtMs),
      indexBlock: state.head.number,
      final: (state.finalisedSeconds ?? -Infinity) >= window.endSeconds,
    };
  }

  private async load(
    wallet: SnapshotQuery['wallet'],
    window: DayWindow,
    nowMs: number,
  ): Promise<Loaded> {
    const { endDay } = window;
    if (this.parts.peek(wallet, endDay) === undefined) {
      // All of it in one statement.
      const leading = this.parts.lead(wallet, endDay);
      if (leading !== 'busy') return (await leading) ?? notSynced();
    }
    const state = (await this.index.read()) ?? notSynced();
    this.requireCovered(state, window, nowMs);
    return (await this.parts.of(wallet, endDay, state)) ?? notSynced();
  }

  private requireCovered(state: SnapshotState, window: DayWindow, nowMs: number): void {
    const progress = {
      headSeconds: state.head.timestampSeconds,
      syncedAt: state.syncedAt,
      haltedReason: state.haltedReason,
    };
    const covered = coverage(progress, window, nowMs, this.options.indexMaxLagSeconds);
    if (covered !== 'covered') throw unavailable(covered.reason);
  }

  private freshPriceOf({ price }: SnapshotState, nowMs: number): string | undefined {
    if (price === undefined) return undefined;
    const ageMs = nowMs - price.observedAt.getTime();
    return ageMs <= this.options.priceMaxAgeSeconds * 1000 ? price.usd : undefined;
  }
}

function notSynced(): never {
  throw unavailable('not-synced');
}

function unavailable(gap: CoverageGap): HttpProblem {
  const { message, retryAfterSeconds } = GAPS[gap];
  return new HttpProblem(503, message, { retryAfterSeconds });
}
