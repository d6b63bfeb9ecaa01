import { coverage, type CoverageGap, windowOf } from '#libs/domain';
import { type RedisLink } from '#libs/cache';
import { type Clock } from '#libs/platform';
import { type CheckResult, type HealthRegistry, PROCESS_CHECK } from '#libs/service';
import { type IndexStore } from '#libs/db';
import { sharedReading } from './shared-reading.js';

const REASONS: Readonly<Record<CoverageGap, string>> = {
  halted: 'has stopped',
  'not-synced': 'is not complete yet',
  lagging: 'is behind the chain',
};

export interface ApiChecksOptions {
  readonly index: IndexStore;
  readonly clock: Clock;
  readonly indexMaxLagSeconds: number;
  /** Absent without REDIS_URL. */
  readonly redis?: Pick<RedisLink, 'isUp'> | undefined;
}

/** Readiness: whether a snapshot asked for now would be answered. */
export class ApiChecks {
  private stopped = false;
  private readonly readIndex: IndexStore['state'];

  constructor(
    health: HealthRegistry,
    private readonly options: ApiChecksOptions,
  ) {
    // Requests for the health need no key: all within a second share one reading.
    this.readIndex = sharedReading(() => options.index.state(), options.clock);
    health.register(PROCESS_CHECK, () => (this.stopped ? { reason: 'is shutting down' } : {}));
    health.register('index', () => this.checkIndex());
    // Never a reason not to be ready: without Redis a replica serves by itself.
    health.register('redis', () => ({ details: { used: options.redis?.isUp ?? false } }));
  }

  /** From now on not ready, though requests are still answered. */
  stopping(): void {
    this.stopped = true;
  }

  private async checkIndex(): Promise<CheckResult> {
    const { clock, indexMaxLagSeconds } = this.options;
    const state = await this.readIndex();
    if (state === undefined) return { reason: 'does not exist yet: start the indexer' };
    const nowMs = clock.nowMs();
    const progress = {
      headSeconds: state.head.timestampSeconds,
      syncedAt: state.syncedAt,
      haltedReason: state.halted?.reason,
    };
    const covered = coverage(progress, windowOf(nowMs, 1), nowMs, indexMaxLagSeconds);
    const details = {
      block: state.head.number.toString(),
      lagSeconds: Math.round(nowMs / 1000) - state.head.timestampSeconds,
    };
    return covered === 'covered' ? { details } : { reason: REASONS[covered.reason], details };
  }
}
